#include "robot_json.hpp"

#include <boost/json/src.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

using pinocchio::JointModel;
namespace json = boost::json;

namespace
{

Eigen::VectorXd readVector(const json::value & value)
{
  const json::array & array = value.as_array();
  Eigen::VectorXd vector(array.size());
  for (std::size_t i = 0; i < array.size(); ++i)
    vector[i] = array[i].to_number<double>();
  return vector;
}

pinocchio::SE3 readPlacement(const json::value & value)
{
  const Eigen::VectorXd rotation = readVector(value.at("rotation"));
  using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  return pinocchio::SE3(Eigen::Map<const RowMajor>(rotation.data()), readVector(value.at("translation")));
}

pinocchio::Inertia readInertia(const json::value & body)
{
  const Eigen::VectorXd i = readVector(body.at("inertia")); // xx, xy, xz, yy, yz, zz about the centre of mass
  Eigen::Matrix3d inertia;
  inertia << i[0], i[1], i[2], i[1], i[3], i[4], i[2], i[4], i[5];
  return pinocchio::Inertia(body.at("mass").to_number<double>(), readVector(body.at("com")), inertia);
}

// The joint about x, y or z where the axis is one of them, as the URDF parser does: those are Pinocchio's faster types.
template<class AboutX, class AboutY, class AboutZ, class AboutAny>
JointModel aboutAxis(const Eigen::Vector3d & axis)
{
  if (axis == Eigen::Vector3d::UnitX())
    return AboutX();
  if (axis == Eigen::Vector3d::UnitY())
    return AboutY();
  if (axis == Eigen::Vector3d::UnitZ())
    return AboutZ();
  return AboutAny(axis);
}

JointModel readJoint(const json::value & joint)
{
  using namespace pinocchio;
  const std::string kind = json::value_to<std::string>(joint.at("kind"));
  if (kind == "free_flyer")
    return JointModelFreeFlyer();
  if (kind == "spherical")
    return JointModelSpherical();
  if (kind == "planar")
    return JointModelPlanar();
  const Eigen::Vector3d axis = readVector(joint.at("axis"));
  if (kind == "revolute")
    return aboutAxis<JointModelRX, JointModelRY, JointModelRZ, JointModelRevoluteUnaligned>(axis);
  if (kind == "continuous")
    return aboutAxis<JointModelRUBX, JointModelRUBY, JointModelRUBZ, JointModelRevoluteUnboundedUnaligned>(axis);
  if (kind == "prismatic")
    return aboutAxis<JointModelPX, JointModelPY, JointModelPZ, JointModelPrismaticUnaligned>(axis);
  throw std::runtime_error("unknown joint kind " + kind);
}

json::value parseFile(const std::string & path)
{
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  json::parse_options options;
  options.numbers = json::number_precision::precise; // the default may be off in the last bit
  return json::parse(text, {}, options);
}

} // namespace

pinocchio::Model readRobotJson(const std::string & path)
{
  const json::value robot = parseFile(path);
  pinocchio::Model model;
  model.name = json::value_to<std::string>(robot.at("robot"));
  model.gravity.linear() = readVector(robot.at("gravity"));
  for (const json::value & body : robot.at("bodies").as_array())
  {
    const std::string parentName = json::value_to<std::string>(body.at("parent"));
    const pinocchio::JointIndex parent = parentName == "world" ? 0 : model.getJointId(parentName);
    const std::string name = json::value_to<std::string>(body.at("name"));
    const auto index = model.addJoint(parent, readJoint(body.at("joint")), readPlacement(body.at("placement")), name);
    model.appendBodyToJoint(index, readInertia(body), pinocchio::SE3::Identity());
    model.joints[index].jointVelocitySelector(model.armature) = readVector(body.at("armature"));
  }
  return model;
}
