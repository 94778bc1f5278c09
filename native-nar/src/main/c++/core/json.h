#ifndef DYNAMO_CORE_JSON_H_
#define DYNAMO_CORE_JSON_H_

#include <string>

namespace dynamo {

/// A text as a JSON string in ASCII; what is not ASCII is replaced.
std::string quoted(const std::string& text);

}  // namespace dynamo

#endif  // DYNAMO_CORE_JSON_H_
