#ifndef DYNAMO_TEST_FAKE_CUDA_PTX_H_
#define DYNAMO_TEST_FAKE_CUDA_PTX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fakecuda {

/// An instruction, decoded.
struct Instruction {
  enum class Op {
    kMov,
    kAdd,
    kSub,
    kMul,
    kMulWide,
    kMad,
    kDiv,
    kRem,
    kMin,
    kNeg,
    kAnd,
    kOr,
    kXor,
    kShl,
    kShr,
    kSetGe,
    kSetEq,
    kBranch,
    kConvert,
    kLoadParam,
    kLoadGlobal,
    kStoreGlobal,
    kReturn
  };
  struct Operand {
    enum class Kind { kNone, kRegister, kNumber, kSpecial } kind = Kind::kNone;
    uint64_t value = 0;  // index, number, or which special register
  };

  Op op = Op::kReturn;
  int bytes = 0;   // of the type
  int guard = -1;  // register of the predicate
  bool guardNegated = false;
  int vector = 1;
  Operand into[2];      // written, or stored
  Operand from[3];      // read; of memory: the address
  uint64_t offset = 0;  // of memory
  std::string label;    // of a branch, until it is resolved
  size_t target = 0;
};

/// A kernel of a module.
struct Entry {
  std::string name;
  std::vector<size_t> parameterBytes;
  std::vector<size_t> parameterOffsets;
  size_t parametersBytes = 0;
  std::vector<int> registerBytes;  // 0 for predicates
  std::vector<Instruction> code;
};

/// The addresses that a kernel may touch. Returns null for the others.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* at(uint64_t address, size_t bytes) = 0;
};

struct Launch {
  const Entry* entry;
  uint32_t grid;
  uint32_t threads;
  std::vector<std::byte> parameters;
};

/// Reads the part of PTX that copies need: integers, predicates, branches, parameters and global memory; no
/// shared memory, no barriers, so that threads can run one after the other. Registers have to be declared
/// with the width of the instructions that use them.
///
/// @return false with a reason for text that is not such a module
bool parseModule(const std::string& text, std::map<std::string, Entry>* entries, std::string* why);

/// Runs all threads of a launch. Returns 0, or the error that a GPU has: 700 for an illegal address, 716 for
/// a misaligned one.
int run(const Launch& launch, Memory& memory);

}  // namespace fakecuda

#endif  // DYNAMO_TEST_FAKE_CUDA_PTX_H_
