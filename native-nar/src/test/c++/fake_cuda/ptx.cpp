#include "ptx.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

namespace fakecuda {
namespace {

using Op = Instruction::Op;
using Operand = Instruction::Operand;

constexpr int kIllegalAddress = 700;
constexpr int kMisalignedAddress = 716;
constexpr uint64_t kMostSteps = uint64_t{1} << 32;  // of one thread: a loop that does not end is a failure

struct PtxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string trimmed(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t end; (end = text.find(by, at)) != std::string::npos; at = end + 1) {
    parts.push_back(trimmed(text.substr(at, end - at)));
  }
  parts.push_back(trimmed(text.substr(at)));
  return parts;
}

int bytesOfType(const std::string& type) {
  if (type == "pred") return 0;
  if (type.size() < 2 || std::string("bus").find(type[0]) == std::string::npos)
    throw PtxError("type " + type);
  int bits = std::stoi(type.substr(1));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) throw PtxError("type " + type);
  return bits / 8;
}

/// Reads one entry.
class EntryParser {
 public:
  Entry parse(const std::string& name, const std::string& parameters, const std::string& body) {
    entry_.name = name;
    for (const auto& one : split(parameters, ',')) parameter(one);
    for (const auto& statement : split(body, ';')) {
      if (!statement.empty()) this->statement(statement);
    }
    for (auto& instruction : entry_.code) {
      if (instruction.op != Op::kBranch) continue;
      auto found = labels_.find(instruction.label);
      if (found == labels_.end()) throw PtxError("no label " + instruction.label);
      instruction.target = found->second;
    }
    if (entry_.code.empty() || entry_.code.back().op != Op::kReturn) throw PtxError("no ret at the end");
    return entry_;
  }

 private:
  /// `.param .u64 name` or `.param .align 8 .b8 name[bytes]`
  void parameter(const std::string& text) {
    std::vector<std::string> words;
    for (const auto& word : split(text, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() < 3 || words[0] != ".param") throw PtxError("parameter " + text);
    size_t at = 1;
    size_t alignment = 1;
    if (words[at] == ".align") {
      alignment = std::stoul(words[at + 1]);
      at += 2;
    }
    auto unit = static_cast<size_t>(bytesOfType(words[at].substr(1)));
    std::string name = words[at + 1];
    size_t bytes = unit;
    size_t bracket = name.find('[');
    if (bracket != std::string::npos) {
      bytes = unit * std::stoul(name.substr(bracket + 1));
      name = name.substr(0, bracket);
    }
    alignment = std::max(alignment, unit);
    size_t offset = (entry_.parametersBytes + alignment - 1) / alignment * alignment;
    parameters_[name] = offset;
    entry_.parameterBytes.push_back(bytes);
    entry_.parameterOffsets.push_back(offset);
    entry_.parametersBytes = offset + bytes;
    if (entry_.parametersBytes > 4096) throw PtxError("more than 4096 bytes of parameters");
  }

  void statement(std::string text) {
    for (size_t colon; (colon = text.find(':')) != std::string::npos;
         text = trimmed(text.substr(colon + 1))) {
      if (!labels_.emplace(trimmed(text.substr(0, colon)), entry_.code.size()).second) {
        throw PtxError("two labels " + text);
      }
    }
    if (text.rfind(".reg", 0) == 0) {
      declare(trimmed(text.substr(4)));
      return;
    }
    Instruction one;
    if (text[0] == '@') {
      size_t space = text.find(' ');
      std::string guard = text.substr(1, space - 1);
      one.guardNegated = guard[0] == '!';
      one.guard = static_cast<int>(registerOf(one.guardNegated ? guard.substr(1) : guard, 0));
      text = trimmed(text.substr(space));
    }
    size_t space = text.find(' ');
    auto words = split(text.substr(0, space), '.');
    decode(words, space == std::string::npos ? "" : trimmed(text.substr(space)), &one);
    entry_.code.push_back(one);
  }

  void declare(const std::string& text) {
    size_t space = text.find(' ');
    int bytes = bytesOfType(text.substr(1, space - 1));
    for (const auto& name : split(text.substr(space), ',')) {
      static const char* reserved[] = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%clock"};
      if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved) ||
          !registers_.emplace(name, entry_.registerBytes.size()).second) {
        throw PtxError("register " + name + " is taken");
      }
      entry_.registerBytes.push_back(bytes);
    }
  }

  uint64_t registerOf(const std::string& name, int bytes) {
    auto found = registers_.find(name);
    if (found == registers_.end()) throw PtxError("no register " + name);
    if (entry_.registerBytes[found->second] != bytes) throw PtxError("the width of " + name);
    return found->second;
  }

  Operand operand(const std::string& text, int bytes) {
    static const std::map<std::string, uint64_t> specials = {
        {"%tid.x", 0}, {"%ntid.x", 1}, {"%ctaid.x", 2}, {"%nctaid.x", 3}};
    auto special = specials.find(text);
    if (special != specials.end()) {
      if (bytes != 4) throw PtxError("the width of " + text);
      return {Operand::Kind::kSpecial, special->second};
    }
    if (text[0] == '%') return {Operand::Kind::kRegister, registerOf(text, bytes)};
    auto parameter = parameters_.find(text);
    if (parameter != parameters_.end()) return {Operand::Kind::kNumber, parameter->second};
    if (!std::isdigit(static_cast<unsigned char>(text[0]))) throw PtxError("operand " + text);
    return {Operand::Kind::kNumber, std::stoull(text)};
  }

  void address(const std::string& text, Instruction* one) {
    std::string inside = trimmed(text.substr(1, text.size() - 2));
    size_t plus = inside.find('+');
    if (plus != std::string::npos) one->offset = std::stoull(inside.substr(plus + 1));
    one->from[0] = operand(trimmed(inside.substr(0, plus)), 8);
  }

  void memory(const std::vector<std::string>& words, const std::string& rest, bool loads, Instruction* one) {
    one->vector = words.size() == 4 ? 2 : 1;
    if (words.size() == 4 && words[2] != "v2") throw PtxError("vector " + words[2]);
    size_t bracket = rest.find('[');
    size_t close = rest.find(']');
    address(rest.substr(bracket, close - bracket + 1), one);
    std::string values = loads ? rest.substr(0, bracket) : rest.substr(close + 1);
    values.erase(std::remove_if(values.begin(), values.end(), [](char c) { return c == '{' || c == '}'; }),
                 values.end());
    // A byte lives in a register of 16 bits.
    int width = one->bytes == 1 ? 2 : one->bytes;
    int at = 0;
    for (const auto& value : split(values, ',')) {
      if (!value.empty() && at < one->vector) one->into[at++] = operand(value, width);
    }
    if (at != one->vector) throw PtxError("values of " + rest);
  }

  void decode(const std::vector<std::string>& words, const std::string& rest, Instruction* one) {
    const std::string& op = words[0];
    if (op == "ret") return;
    if (op == "bra") {
      one->op = Op::kBranch;
      one->label = rest;
      return;
    }
    one->bytes = bytesOfType(words.back());
    if (op == "ld" || op == "st") {
      bool param = words[1] == "param";
      if (!param && words[1] != "global") throw PtxError("state space " + words[1]);
      if (param && op == "st") throw PtxError("a store to parameters");
      one->op = op == "st" ? Op::kStoreGlobal : param ? Op::kLoadParam : Op::kLoadGlobal;
      memory(words, rest, op == "ld", one);
      return;
    }
    auto operands = split(rest, ',');
    if (op == "cvt") {
      one->op = Op::kConvert;
      one->into[0] = operand(operands.at(0), bytesOfType(words.at(1)));
      one->from[0] = operand(operands.at(1), one->bytes);
      one->bytes = std::min(bytesOfType(words.at(1)), one->bytes);
      return;
    }
    if (op == "setp") {
      if (words[1] != "ge" && words[1] != "eq") throw PtxError("comparison " + words[1]);
      one->op = words[1] == "ge" ? Op::kSetGe : Op::kSetEq;
      if (words.back()[0] == 's') throw PtxError("a signed comparison");
      one->into[0] = operand(operands.at(0), 0);
      one->from[0] = operand(operands.at(1), one->bytes);
      one->from[1] = operand(operands.at(2), one->bytes);
      return;
    }
    static const std::map<std::string, std::pair<Op, size_t>> plain = {
        {"mov", {Op::kMov, 1}}, {"add", {Op::kAdd, 2}}, {"sub", {Op::kSub, 2}}, {"min", {Op::kMin, 2}},
        {"neg", {Op::kNeg, 1}}, {"and", {Op::kAnd, 2}}, {"or", {Op::kOr, 2}},   {"xor", {Op::kXor, 2}},
        {"div", {Op::kDiv, 2}}, {"rem", {Op::kRem, 2}}, {"shl", {Op::kShl, 2}}, {"shr", {Op::kShr, 2}}};
    size_t count = 2;
    int read = one->bytes;
    auto found = plain.find(op);
    if (found != plain.end()) {
      one->op = found->second.first;
      count = found->second.second;
    } else if (op == "mul" && (words[1] == "lo" || words[1] == "wide")) {
      one->op = words[1] == "lo" ? Op::kMul : Op::kMulWide;
    } else if (op == "mad" && words[1] == "lo") {
      one->op = Op::kMad;
      count = 3;
    } else {
      throw PtxError("instruction " + op);
    }
    if (operands.size() != count + 1) throw PtxError("operands of " + op + " " + rest);
    one->into[0] = operand(operands[0], one->op == Op::kMulWide ? 2 * read : read);
    for (size_t i = 0; i < count; i++) {
      bool shift = i == 1 && (one->op == Op::kShl || one->op == Op::kShr);
      one->from[i] = operand(operands[i + 1], shift ? 4 : read);
    }
  }

  Entry entry_;
  std::map<std::string, size_t> parameters_;
  std::map<std::string, size_t> registers_;
  std::map<std::string, size_t> labels_;
};

uint64_t masked(uint64_t value, int bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

/// Runs one thread.
class Thread {
 public:
  Thread(const Launch& launch, Memory& memory) : launch_(launch), memory_(memory) {}

  int run(uint32_t block, uint32_t thread) {
    special_[0] = thread;
    special_[1] = launch_.threads;
    special_[2] = block;
    special_[3] = launch_.grid;
    registers_.assign(launch_.entry->registerBytes.size(), 0xdeadbeefdeadbeef);
    const auto& code = launch_.entry->code;
    uint64_t steps = 0;
    for (size_t at = 0; at < code.size();) {
      const Instruction& one = code[at++];
      if (++steps > kMostSteps) return kIllegalAddress;
      if (one.guard >= 0) {
        bool holds = registers_[static_cast<size_t>(one.guard)] == 1;
        if (holds == one.guardNegated) continue;
      }
      if (one.op == Op::kReturn) return 0;
      if (one.op == Op::kBranch) {
        at = one.target;
        continue;
      }
      int error = step(one);
      if (error != 0) return error;
    }
    return 0;
  }

 private:
  uint64_t read(const Operand& from) const {
    switch (from.kind) {
      case Operand::Kind::kRegister:
        return registers_[from.value];
      case Operand::Kind::kSpecial:
        return special_[from.value];
      default:
        return from.value;
    }
  }

  int step(const Instruction& one) {
    if (one.op == Op::kLoadParam || one.op == Op::kLoadGlobal || one.op == Op::kStoreGlobal) return move(one);
    uint64_t a = read(one.from[0]);
    uint64_t b = read(one.from[1]);
    uint64_t value = 0;
    switch (one.op) {
      case Op::kMov:
      case Op::kConvert:
        value = a;
        break;
      case Op::kAdd:
        value = a + b;
        break;
      case Op::kSub:
        value = a - b;
        break;
      case Op::kMul:
        value = a * b;
        break;
      case Op::kMulWide:
        registers_[one.into[0].value] = a * b;
        return 0;
      case Op::kMad:
        value = a * b + read(one.from[2]);
        break;
      case Op::kDiv:
        value = b == 0 ? ~uint64_t{0} : a / b;
        break;
      case Op::kRem:
        value = b == 0 ? a : a % b;
        break;
      case Op::kMin:
        value = std::min(a, b);
        break;
      case Op::kNeg:
        value = 0 - a;
        break;
      case Op::kAnd:
        value = a & b;
        break;
      case Op::kOr:
        value = a | b;
        break;
      case Op::kXor:
        value = a ^ b;
        break;
      case Op::kShl:
        value = b >= 64 ? 0 : a << b;
        break;
      case Op::kShr:
        value = b >= 64 ? 0 : a >> b;
        break;
      case Op::kSetGe:
        registers_[one.into[0].value] = a >= b ? 1 : 0;
        return 0;
      case Op::kSetEq:
        registers_[one.into[0].value] = a == b ? 1 : 0;
        return 0;
      default:
        return kIllegalAddress;
    }
    registers_[one.into[0].value] = masked(value, one.bytes);
    return 0;
  }

  int move(const Instruction& one) {
    uint64_t address = read(one.from[0]) + one.offset;
    auto bytes = static_cast<size_t>(one.bytes);
    size_t all = bytes * static_cast<size_t>(one.vector);
    if (address % all != 0) return kMisalignedAddress;
    std::byte* at = nullptr;
    if (one.op == Op::kLoadParam) {
      if (address > launch_.parameters.size() || all > launch_.parameters.size() - address)
        return kIllegalAddress;
      at = const_cast<std::byte*>(launch_.parameters.data()) + address;
    } else {
      at = memory_.at(address, all);
    }
    if (at == nullptr) return kIllegalAddress;
    for (int i = 0; i < one.vector; i++, at += bytes) {
      uint64_t& value = registers_[one.into[i].value];
      if (one.op == Op::kStoreGlobal) {
        std::memcpy(at, &value, bytes);
      } else {
        value = 0;
        std::memcpy(&value, at, bytes);
      }
    }
    return 0;
  }

  const Launch& launch_;
  Memory& memory_;
  uint64_t special_[4] = {};
  std::vector<uint64_t> registers_;
};

}  // namespace

bool parseModule(const std::string& text, std::map<std::string, Entry>* entries, std::string* why) {
  try {
    if (text.find(".version") != 0 || text.find(".target sm_70") == std::string::npos ||
        text.find(".address_size 64") == std::string::npos) {
      throw PtxError("the head of the module");
    }
    static const std::string kEntry = ".visible .entry ";
    for (size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at)) {
      at += kEntry.size();
      size_t open = text.find('(', at);
      size_t close = text.find(')', open);
      size_t begin = text.find("{\n", close);  // braces of vectors stand within a line
      size_t end = text.find("\n}\n", begin);
      if (open == std::string::npos || end == std::string::npos) throw PtxError("an entry without an end");
      std::string name = text.substr(at, open - at);
      (*entries)[name] = EntryParser().parse(name, text.substr(open + 1, close - open - 1),
                                             text.substr(begin + 2, end - begin - 1));
      at = end;
    }
    return true;
  } catch (const std::exception& e) {
    *why = e.what();
    return false;
  }
}

int run(const Launch& launch, Memory& memory) {
  Thread one(launch, memory);
  for (uint32_t block = 0; block < launch.grid; block++) {
    for (uint32_t thread = 0; thread < launch.threads; thread++) {
      int error = one.run(block, thread);
      if (error != 0) return error;
    }
  }
  return 0;
}

}  // namespace fakecuda
