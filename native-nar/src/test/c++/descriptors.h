#ifndef DYNAMO_TEST_DESCRIPTORS_H_
#define DYNAMO_TEST_DESCRIPTORS_H_

#include <dirent.h>

#include <fstream>
#include <string>

/// The descriptors that this process has open, and its mappings of regions, to find those that a test leaks.
struct Resources {
  int descriptors = 0;
  int mappings = 0;

  bool operator==(const Resources& other) const {
    return descriptors == other.descriptors && mappings == other.mappings;
  }

  static Resources now() {
    Resources found;
    DIR* folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) found.descriptors++;
    closedir(folder);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("memfd:") != std::string::npos) found.mappings++;
    }
    return found;
  }
};

#endif  // DYNAMO_TEST_DESCRIPTORS_H_
