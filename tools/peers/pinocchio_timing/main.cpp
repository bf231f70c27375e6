// Times Pinocchio's rigid-body algorithms on given states: one core, double precision, one JSON line on stdout.

#include "robot_json.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#ifdef TIMING_WITH_URDF
  #include <pinocchio/parsers/urdf.hpp>
#endif

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using namespace pinocchio;

namespace
{

const char * const USAGE =
  "usage: pinocchio_timing_" TIMING_FLAVOUR " ROBOT [--free-flyer] STATES.bin BATCHES\n"
  "  ROBOT         robot JSON, or (packaged flavour) a URDF\n"
  "  --free-flyer  give a URDF a free-flying base; the JSON says so itself\n"
  "  STATES.bin    float64: q v tau a, one state after the other\n"
  "  BATCHES       how many times to go through all states\n"
  "Prints microseconds per call, one figure per batch and algorithm, after one batch that is not counted. The\n"
  "checksums are sums of the absolute results over all states, to compare flavours with. *_world is the same\n"
  "algorithm in Pinocchio's world convention; the others are called with their defaults.\n";

struct Arguments
{
  std::string robot, states;
  bool freeFlyer = false;
  int batches = 0;
};

// aba() and crba() are instantiated in the library for Eigen::Ref arguments only: with a plain vector the caller would
// compile its own, and the packaged flavour would not time what is packaged.
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

// One state, as references into the numbers of the file.
struct State
{
  VectorRef q, v, tau, a;
};

// One algorithm: its name in the output, a call to time, and the sum of what that call left in the data.
struct Algorithm
{
  const char * name;
  std::function<void(const std::vector<State> &)> runAll;
  std::function<double(const State &)> checksum;
  std::vector<double> microseconds = {};
};

Arguments parseArguments(int argc, char ** argv)
{
  Arguments arguments;
  std::vector<std::string> positional;
  for (int i = 1; i < argc; ++i)
  {
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h"))
    {
      std::fputs(USAGE, stdout);
      std::exit(0);
    }
    if (!std::strcmp(argv[i], "--free-flyer"))
      arguments.freeFlyer = true;
    else
      positional.push_back(argv[i]);
  }
  if (positional.size() != 3 || std::atoi(positional[2].c_str()) < 1)
    throw std::runtime_error(USAGE);
  arguments.robot = positional[0];
  arguments.states = positional[1];
  arguments.batches = std::atoi(positional[2].c_str());
  return arguments;
}

Model readRobot(const Arguments & arguments)
{
  const std::string & path = arguments.robot;
  if (path.size() > 5 && path.substr(path.size() - 5) == ".json")
    return readRobotJson(path);
#ifdef TIMING_WITH_URDF
  Model model;
  if (arguments.freeFlyer)
    pinocchio::urdf::buildModel(path, JointModelFreeFlyer(), model);
  else
    pinocchio::urdf::buildModel(path, model);
  return model;
#else
  throw std::runtime_error("the " TIMING_FLAVOUR " flavour reads robot JSON only, not " + path);
#endif
}

std::vector<double> readNumbers(const std::string & path)
{
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

// The states in `numbers`, which must outlive them.
std::vector<State> splitStates(const std::vector<double> & numbers, const Model & model)
{
  const std::size_t perState = model.nq + 3 * model.nv;
  if (numbers.empty() || numbers.size() % perState != 0)
    throw std::runtime_error("the states are not a whole number of q v tau a for this robot");
  const auto view = [](const double * start, int size) { return Eigen::Map<const Eigen::VectorXd>(start, size); };
  std::vector<State> states;
  for (const double * q = numbers.data(); q != numbers.data() + numbers.size(); q += perState)
  {
    const double * v = q + model.nq;
    states.push_back(
      {view(q, model.nq), view(v, model.nv), view(v + model.nv, model.nv), view(v + 2 * model.nv, model.nv)});
  }
  return states;
}

// The loop over the states is inside the std::function, so that its call is not part of what is timed.
template<class Call, class Sum>
Algorithm makeAlgorithm(const char * name, Call call, Sum sum)
{
  const auto runAll = [call](const std::vector<State> & states) {
    for (const State & state : states)
      call(state);
  };
  const auto checksum = [call, sum](const State & state) {
    call(state);
    return sum();
  };
  return {name, runAll, checksum};
}

std::vector<Algorithm> makeAlgorithms(const Model & model, Data & data)
{
  const auto ddq = [&] { return data.ddq.cwiseAbs().sum(); };
  const auto tau = [&] { return data.tau.cwiseAbs().sum(); };
  const auto massMatrix = [&] { return data.M.triangularView<Eigen::Upper>().toDenseMatrix().cwiseAbs().sum(); };
  const auto abaDerivatives = [&] {
    return data.ddq_dq.cwiseAbs().sum() + data.ddq_dv.cwiseAbs().sum()
           + data.Minv.triangularView<Eigen::Upper>().toDenseMatrix().cwiseAbs().sum();
  };
  const auto rneaDerivatives = [&] {
    return data.dtau_dq.cwiseAbs().sum() + data.dtau_dv.cwiseAbs().sum() + massMatrix();
  };
  return {
    makeAlgorithm("aba", [&](const State & s) { aba(model, data, s.q, s.v, s.tau); }, ddq),
    makeAlgorithm(
      "aba_derivatives", [&](const State & s) { computeABADerivatives(model, data, s.q, s.v, s.tau); }, abaDerivatives),
    makeAlgorithm("rnea", [&](const State & s) { rnea(model, data, s.q, s.v, s.a); }, tau),
    makeAlgorithm(
      "rnea_derivatives", [&](const State & s) { computeRNEADerivatives(model, data, s.q, s.v, s.a); },
      rneaDerivatives),
    makeAlgorithm("crba", [&](const State & s) { crba(model, data, s.q); }, massMatrix),
    makeAlgorithm("aba_world", [&](const State & s) { aba(model, data, s.q, s.v, s.tau, Convention::WORLD); }, ddq),
    makeAlgorithm("crba_world", [&](const State & s) { crba(model, data, s.q, Convention::WORLD); }, massMatrix),
  };
}

// All algorithms in turn within each batch, so that a slow moment of the machine falls on all of them alike.
void timeBatches(std::vector<Algorithm> & algorithms, const std::vector<State> & states, int batches)
{
  using Clock = std::chrono::steady_clock;
  for (int batch = -1; batch < batches; ++batch)
  {
    for (Algorithm & algorithm : algorithms)
    {
      const auto start = Clock::now();
      algorithm.runAll(states);
      const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
      if (batch >= 0) // batch −1 warms up
        algorithm.microseconds.push_back(elapsed.count() / states.size());
    }
  }
}

void printJsonLine(const Model & model, const std::vector<Algorithm> & algorithms, const std::vector<State> & states)
{
  std::printf(
    "{\"robot\": \"%s\", \"flavour\": \"" TIMING_FLAVOUR "\", \"nv\": %d, \"states\": %zu", model.name.c_str(),
    model.nv, states.size());
  for (const Algorithm & algorithm : algorithms)
  {
    std::printf(", \"%s_us\": [", algorithm.name);
    for (std::size_t i = 0; i < algorithm.microseconds.size(); ++i)
      std::printf("%s%.4f", i ? ", " : "", algorithm.microseconds[i]);
    std::printf("]");
  }
  std::printf(", \"checksums\": {");
  for (std::size_t i = 0; i < algorithms.size(); ++i)
  {
    double sum = 0.0;
    for (const State & state : states)
      sum += algorithms[i].checksum(state);
    std::printf("%s\"%s\": %.17g", i ? ", " : "", algorithms[i].name, sum);
  }
  std::printf("}}\n");
}

} // namespace

int main(int argc, char ** argv)
{
  try
  {
    const Arguments arguments = parseArguments(argc, argv);
    const Model model = readRobot(arguments);
    const std::vector<double> numbers = readNumbers(arguments.states);
    const std::vector<State> states = splitStates(numbers, model);
    Data data(model);
    std::vector<Algorithm> algorithms = makeAlgorithms(model, data);
    timeBatches(algorithms, states, arguments.batches);
    printJsonLine(model, algorithms, states);
  }
  catch (const std::exception & error)
  {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
