// OMPL's RRT-Connect with the best scalar checker that we could write for it: balls against boxes,
// balls, capsules and voxels, a ball round each link first, out at the first contact.
//
//     plan_ompl SEED TIMEOUT_S STEP_RAD < problems.txt
//
// Reads what `plan_peer.py` writes, answers with one JSON object per problem.

#include <ompl/base/spaces/RealVectorStateSpace.h>
#include <ompl/geometric/SimpleSetup.h>
#include <ompl/geometric/planners/rrt/RRTConnect.h>
#include <ompl/util/Console.h>
#include <ompl/util/RandomNumbers.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace ob = ompl::base;
namespace og = ompl::geometric;
using Eigen::Isometry3d;
using Eigen::Matrix3d;
using Eigen::Vector3d;

struct Ball {
    Vector3d centre;
    double radius;
};
struct Cuboid {
    Vector3d centre;
    Matrix3d turn;  // from the world into the box
    Vector3d half;
};
struct Capsule {
    Vector3d a, along;
    double inverse_square, radius;
};
struct Link {
    Isometry3d fixed;
    Vector3d axis;
    std::vector<Ball> balls;
    Ball around;
};

static double read_number() {
    double number;
    if (!(std::cin >> number)) {
        std::cerr << "plan_ompl: the problems end too early\n";
        std::exit(1);
    }
    return number;
}

static Vector3d read_vector() {
    const double x = read_number(), y = read_number();
    return {x, y, read_number()};
}

static Matrix3d read_turn() {
    const double w = read_number();
    const Vector3d v = read_vector();
    return Eigen::Quaterniond(w, v.x(), v.y(), v.z()).normalized().toRotationMatrix();
}

struct Robot {
    std::vector<Link> links;
    std::vector<std::pair<int, int>> apart;

    void read() {
        links.resize(static_cast<size_t>(read_number()));
        for (auto &link : links) {
            link.fixed = Isometry3d::Identity();
            link.fixed.translation() = read_vector();
            link.fixed.linear() = read_turn();
            link.axis = read_vector();
            link.balls.resize(static_cast<size_t>(read_number()));
            Eigen::AlignedBox3d bounds;
            for (auto &ball : link.balls) {
                ball.centre = read_vector();
                ball.radius = read_number();
                bounds.extend(ball.centre);
            }
            link.around = {bounds.center(), 0};
            for (const auto &ball : link.balls)
                link.around.radius = std::max(
                    link.around.radius, (ball.centre - link.around.centre).norm() + ball.radius);
        }
        apart.resize(static_cast<size_t>(read_number()));
        for (auto &[first, second] : apart) {
            first = static_cast<int>(read_number());
            second = static_cast<int>(read_number());
        }
    }
};

static bool meet(const Ball &ball, const Ball &other) {
    const double reach = ball.radius + other.radius;
    return (ball.centre - other.centre).squaredNorm() <= reach * reach;
}

static bool meet(const Ball &ball, const Cuboid &box) {
    const Vector3d local = box.turn * (ball.centre - box.centre);
    return (local.cwiseAbs() - box.half).cwiseMax(0).squaredNorm() <= ball.radius * ball.radius;
}

static bool meet(const Ball &ball, const Capsule &capsule) {
    const Vector3d from = ball.centre - capsule.a;
    const double t = std::clamp(from.dot(capsule.along) * capsule.inverse_square, 0.0, 1.0);
    const double reach = ball.radius + capsule.radius;
    return (from - t * capsule.along).squaredNorm() <= reach * reach;
}

struct Voxels {
    double size = 0;
    Eigen::Vector3i lower, count;
    std::vector<char> taken;

    bool meet(const Ball &ball) const {
        const Vector3d at = ball.centre / size - lower.cast<double>();
        const double reach = ball.radius / size;
        int first[3], last[3];
        for (int axis = 0; axis < 3; ++axis) {
            first[axis] = std::max(0, static_cast<int>(std::floor(at[axis] - reach)));
            last[axis] = std::min(count[axis] - 1, static_cast<int>(std::floor(at[axis] + reach)));
        }
        const auto gap = [&](int axis, int cell) {
            const double g = std::max({cell - at[axis], at[axis] - cell - 1, 0.0});
            return g * g;
        };
        for (int z = first[2]; z <= last[2]; ++z)
            for (int y = first[1]; y <= last[1]; ++y)
                for (int x = first[0]; x <= last[0]; ++x)
                    if (taken[(static_cast<size_t>(z) * count[1] + y) * count[0] + x] &&
                        gap(0, x) + gap(1, y) + gap(2, z) <= reach * reach)
                        return true;
        return false;
    }
};

struct World {
    std::vector<Cuboid> boxes;
    std::vector<Ball> balls;
    std::vector<Capsule> capsules;
    Voxels voxels;

    void read() {
        boxes.resize(static_cast<size_t>(read_number()));
        for (auto &box : boxes) {
            box.centre = read_vector();
            box.turn = read_turn().transpose();
            box.half = read_vector();
        }
        balls.resize(static_cast<size_t>(read_number()));
        for (auto &ball : balls) {
            ball.centre = read_vector();
            ball.radius = read_number();
        }
        capsules.resize(static_cast<size_t>(read_number()));
        for (auto &capsule : capsules) {
            capsule.a = read_vector();
            capsule.along = read_vector() - capsule.a;
            capsule.inverse_square = 1 / std::max(capsule.along.squaredNorm(), 1e-12);
            capsule.radius = read_number();
        }
        voxels.size = read_number();
        voxels.lower = read_vector().cast<int>();
        voxels.count = read_vector().cast<int>();
        const auto runs = static_cast<size_t>(read_number());
        for (size_t run = 0; run < runs; ++run)
            voxels.taken.resize(voxels.taken.size() + static_cast<size_t>(read_number()), run % 2);
        voxels.taken.resize(runs ? static_cast<size_t>(voxels.count.prod()) : 0);
    }

    bool meet_solids(const Ball &ball) const {
        const auto meets = [&](const auto &other) { return meet(ball, other); };
        return std::any_of(boxes.begin(), boxes.end(), meets) ||
               std::any_of(balls.begin(), balls.end(), meets) ||
               std::any_of(capsules.begin(), capsules.end(), meets);
    }
};

static bool is_free(const Robot &robot, const World &world, const double *joints) {
    static thread_local std::vector<std::vector<Ball>> placed;
    static thread_local std::vector<Ball> around;
    placed.resize(robot.links.size());
    around.resize(robot.links.size());
    Isometry3d place = Isometry3d::Identity();
    for (size_t index = 0; index < robot.links.size(); ++index) {
        const Link &link = robot.links[index];
        place = place * link.fixed;
        if (index > 0) place.rotate(Eigen::AngleAxisd(joints[index - 1], link.axis));
        around[index] = {place * link.around.centre, link.around.radius};
        // The base stands on something.
        const bool solids = index > 0 && world.meet_solids(around[index]);
        const bool voxels = index > 0 && !world.voxels.taken.empty();
        placed[index].clear();
        for (const Ball &ball : link.balls) {
            const Ball &there = placed[index].emplace_back(Ball{place * ball.centre, ball.radius});
            if (solids && world.meet_solids(there)) return false;
            if (voxels && world.voxels.meet(there)) return false;
        }
    }
    for (const auto &[first, second] : robot.apart) {
        if (!meet(around[first], around[second])) continue;
        for (const Ball &one : placed[first])
            for (const Ball &other : placed[second])
                if (meet(one, other)) return false;
    }
    return true;
}

static void print_path(const char *key, og::PathGeometric &path) {
    std::printf(", \"%s\": [", key);
    for (size_t index = 0; index < path.getStateCount(); ++index) {
        const auto *at = path.getState(index)->as<ob::RealVectorStateSpace::StateType>()->values;
        std::printf("%s[", index ? ", " : "");
        for (int joint = 0; joint < 6; ++joint) std::printf("%s%.17g", joint ? ", " : "", at[joint]);
        std::printf("]");
    }
    std::printf("]");
}

template <class Work>
static double micros(Work work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
        .count();
}

int main(int count, char **words) {
    if (count != 4) {
        std::cerr << "plan_ompl SEED TIMEOUT_S STEP_RAD < problems.txt\n";
        return 2;
    }
    ompl::msg::setLogLevel(ompl::msg::LOG_ERROR);
    ompl::RNG::setSeed(std::stoul(words[1]));
    const double timeout_s = std::stod(words[2]), step_rad = std::stod(words[3]);
    Robot robot;
    robot.read();
    auto space = std::make_shared<ob::RealVectorStateSpace>(6);
    space->setBounds(-M_PI, M_PI);

    std::string name, cls, kind;
    while (std::cin >> name >> cls >> kind) {
        ob::ScopedState<> start(space), goal(space);
        for (int joint = 0; joint < 6; ++joint) start[joint] = read_number();
        for (int joint = 0; joint < 6; ++joint) goal[joint] = read_number();
        World world;
        world.read();
        // Allocation counts, as it does for ours.
        ob::PlannerStatus solved;
        std::unique_ptr<og::SimpleSetup> setup;
        const double plan_us = micros([&] {
            setup = std::make_unique<og::SimpleSetup>(space);
            setup->setStateValidityChecker([&](const ob::State *state) {
                return is_free(robot, world,
                               state->as<ob::RealVectorStateSpace::StateType>()->values);
            });
            const auto info = setup->getSpaceInformation();
            info->setStateValidityCheckingResolution(step_rad / space->getMaximumExtent());
            setup->setPlanner(std::make_shared<og::RRTConnect>(info));
            setup->setStartAndGoalStates(start, goal);
            solved = setup->solve(timeout_s);
        });
        const bool found = solved == ob::PlannerStatus::EXACT_SOLUTION;
        std::printf("{\"name\": \"%s\", \"cls\": \"%s\", \"obstacles\": \"%s\", \"outcome\": \"%s\"",
                    name.c_str(), cls.c_str(), kind.c_str(), found ? "found" : "no_path");
        std::printf(", \"plan_us\": %.3f", plan_us);
        if (found) {
            og::PathGeometric path = setup->getSolutionPath();
            std::printf(", \"length_raw_rad\": %.9f", path.length());
            print_path("waypoints_raw", path);
            const double simplify_us = micros([&] { setup->simplifySolution(); });
            og::PathGeometric &shorter = setup->getSolutionPath();
            std::printf(", \"simplify_us\": %.3f, \"length_rad\": %.9f", simplify_us,
                        shorter.length());
            print_path("waypoints", shorter);
        }
        std::printf("}\n");
        std::fflush(stdout);
    }
}
