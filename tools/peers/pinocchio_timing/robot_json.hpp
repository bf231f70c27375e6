// The robot JSON of tools/peers/robots.py as a Pinocchio model.
#pragma once

#include <pinocchio/multibody.hpp>
#include <string>

// Builds the model that the file describes: the same joints in the same order, with their inertias and armatures.
// Throws std::runtime_error when the file cannot be read or has a joint that it cannot name.
pinocchio::Model readRobotJson(const std::string & path);
