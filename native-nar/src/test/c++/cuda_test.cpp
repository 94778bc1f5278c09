#include <chrono>
#include <thread>

#include "../../main/c++/backend/cuda/copy_plan.h"
#include "../../main/c++/core/permutation.h"
#include "cuda_fixtures.h"

using namespace cudatest;
using dynamo::BlockPair;
using dynamo::BlockShape;
using dynamo::cuda::chooseMethod;
using dynamo::cuda::Chunk;
using dynamo::cuda::Method;
using dynamo::cuda::Methods;

namespace {

constexpr uint64_t kMebi = uint64_t{1} << 20;

void missingPartsAreNamed() {
  Fake fake;
  fake.reset(12080, 1);
  std::string why;
  CHECK(Driver::open("/nonexistent/libcuda.so.1", &why) == nullptr);
  CHECK(why.find("/nonexistent/libcuda.so.1") != std::string::npos);
  CHECK(Driver::open("libm.so.6", &why) == nullptr);
  CHECK(why.find("cuInit") != std::string::npos);
  fake.fail("cuInit", 1, 803);
  CHECK(Driver::open(fakePath(), &why) == nullptr);
  CHECK(why.find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)") != std::string::npos);
  CHECK(why.find("restart") != std::string::npos);
  fake.reset(12080, 0);
  CHECK(Driver::open(fakePath(), &why) == nullptr);
  CHECK(why.find("CUDA_ERROR_NO_DEVICE (100)") != std::string::npos);

  fake.reset(11080, 1);  // no batches, and a search that finds nothing
  fake.withoutSearch(1);
  auto old = Driver::open(fakePath(), &why);
  CHECK(old != nullptr && old->version() == 11080 && old->missing().size() == 1);
  CHECK(old->missing()[0] == "cuMemcpyBatchAsync");
  fake.reset(12080, 2);
  auto driver = Driver::open(fakePath(), &why);
  CHECK(driver != nullptr && driver->deviceCount() == 2 && driver->missing().empty());
  CHECK(driver->functions().memcpyBatchAsync != nullptr &&
        driver->functions().memcpyPlainBatchAsync == nullptr);
  fake.reset(13000, 1);
  driver = Driver::open(fakePath(), &why);
  CHECK(driver->functions().memcpyBatchAsync == nullptr &&
        driver->functions().memcpyPlainBatchAsync != nullptr);
  std::shared_ptr<Device> device;
  CHECK(Device::open(driver, 1, &device, &why) == Status::kInvalid);
  CHECK(why.find("no GPU 1") != std::string::npos);
}

void methodsFollowTheTable() {
  constexpr auto d = Place::kDevice;
  constexpr auto h = Place::kPinned;
  constexpr Methods all{true, true};
  CHECK(chooseMethod(h, d, 8, 8 * 4096, all) == Method::kSingle);
  CHECK(chooseMethod(h, d, 9, 9 * 4096, all) == Method::kBatch);
  CHECK(chooseMethod(d, h, 127, 127 * 4096, all) == Method::kBatch);
  CHECK(chooseMethod(d, h, 128, 128 * 4096, all) == Method::kKernel);
  CHECK(chooseMethod(d, h, 128, 128 * 65536, all) == Method::kBatch);
  CHECK(chooseMethod(d, h, 128, 128 * kMebi, all) == Method::kSingle);
  CHECK(chooseMethod(d, d, 9, 9 * 4096, all) == Method::kKernel);
  CHECK(chooseMethod(d, d, 9, 9 * kMebi, all) == Method::kSingle);
  CHECK(chooseMethod(d, d, 9, 9 * 4096, {true, false}) == Method::kBatch);
  CHECK(chooseMethod(d, d, 9, 9 * 4096, {false, false}) == Method::kSingle);
  CHECK(chooseMethod(h, d, 9, 9 * 4096, {false, true}) == Method::kKernel);
  CHECK(chooseMethod(h, d, 9, 9 * 65536, {false, true}) == Method::kSingle);
  CHECK(chooseMethod(Place::kPageable, d, 500, 500 * 4096, all) == Method::kSingle);
  CHECK(chooseMethod(d, Place::kPageable, 500, 500 * 4096, all) == Method::kSingle);
}

void largePiecesAreCutIntoChunks() {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; round++) {
    std::vector<CopyRange> part;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < 1 + random() % 5; i++) {
      uint64_t length = 1 + random() % (random() % 2 == 0 ? 1000 : kMebi);
      part.push_back({bytes, 3 * bytes, length});
      bytes += length;
    }
    std::vector<Chunk> chunks;
    dynamo::cuda::cutChunks(part, 5000, 7000, &chunks);
    size_t next = 0;
    for (const auto& piece : part) {
      for (uint64_t at = 0; at < piece.length; next++) {
        const Chunk& chunk = chunks.at(next);
        CHECK(chunk.source == 5000 + piece.source + at && chunk.target == 7000 + piece.target + at);
        CHECK(chunk.bytes < 2 * dynamo::cuda::kChunkBytes);
        CHECK(chunk.bytes >= dynamo::cuda::kChunkBytes || chunk.bytes == piece.length);
        at += chunk.bytes;
        CHECK(at <= piece.length);
      }
    }
    CHECK(next == chunks.size());
  }
}

/// Random sizes, offsets, strides and overlaps, beside a copy by loops, between all kinds of memory.
void copiesAgreeWithTheNaiveCopy(int version) {
  Bench bench(version);
  std::mt19937_64 random(static_cast<uint64_t>(version));
  constexpr uint64_t kSize = 3 << 18;
  const Place places[] = {Place::kPageable, Place::kPinned, Place::kDevice};
  for (Place from : places) {
    for (Place to : places) {
      if (from != Place::kDevice && to != Place::kDevice) continue;
      uint64_t source = bench.allocate(from, kSize);
      uint64_t target = bench.allocate(to, kSize);
      auto data = randomBytes(random, kSize);
      bench.write(source, data);
      std::vector<std::byte> expected(kSize);
      CHECK(bench.read(target, kSize) == expected);  // zeroed
      for (int round = 0; round < 25; round++) {
        uint64_t pieces = round % 5 == 0   ? 300 + random() % 100
                          : round % 5 == 1 ? 9 + random() % 60
                                           : 1 + random() % 8;
        uint64_t length = 1 + random() % (kSize / pieces / 2);
        if (random() % 3 == 0) length &= ~uint64_t{15};
        if (length == 0) length = 16;
        uint64_t align = random() % 3 == 0 ? 16 : random() % 2 == 0 ? 4 : 1;
        uint64_t stride =
            random() % 6 == 0 && pieces > 1 ? length - 1 : length + random() % 40 / align * align;
        uint64_t at = random() % 64 / align * align;
        std::vector<CopyRange> ranges;
        auto after = expected;
        uint64_t bytes = 0;
        for (uint64_t i = 0; i < pieces && at + length <= kSize; i++, at += stride) {
          uint64_t read = random() % (kSize - length) / align * align;
          ranges.push_back({read, at, length});
          std::memcpy(&after[at], &data[read], length);
          bytes += length;
        }
        Status submitted = bench.submit(source, target, ranges);
        if (stride < length && ranges.size() > 1) {
          CHECK(submitted == Status::kInvalid);
          continue;
        }
        CHECK(submitted == Status::kOk);
        auto ended = bench.next();
        CHECK(ended.status == Status::kOk && ended.bytes == bytes);
        expected = after;
        if (round % 5 == 4) CHECK(bench.read(target, kSize) == expected);
      }
      CHECK(bench.read(target, kSize) == expected);
      CHECK(bench.submit(source, target, {{0, kSize - 4, 5}}) == Status::kRange);
      CHECK(bench.submit(source, target, {{~uint64_t{0} - 3, 0, 8}}) == Status::kRange);
      CHECK((RegionTable::kindOf(source) == RegionTable::Kind::kDevice ? bench.devices() : bench.host())
                .release(source) == Status::kOk);
    }
  }
  auto counts = bench.copies().counts();
  CHECK(counts.singles > 0 && counts.kernels > 0);
  if (isReal()) return;
  CHECK((counts.batches > 0) == (version >= 12080));
  CHECK((bench.fake().calls("cuMemcpyBatchAsync") > 0) == (version >= 12080 && version < 13000));
  CHECK((bench.fake().calls("cuMemcpyBatchAsync_v2") > 0) == (version >= 13000));
}

void batchesLargerThanAPartArriveWhole() {
  Bench bench;
  std::mt19937_64 random(8);
  uint64_t size = 2 * dynamo::cuda::kPartBytes + 12345;
  uint64_t source = bench.allocate(Place::kPinned, size);
  uint64_t target = bench.allocate(Place::kDevice, size);
  auto data = randomBytes(random, size);
  bench.write(source, data);
  CHECK(bench.copy(source, target, {{7, 0, size - 7}}) == Status::kOk);
  auto there = bench.read(target, size);
  CHECK(std::memcmp(there.data(), data.data() + 7, size - 7) == 0);
  // more pieces than a part has, by the kernel's list in pinned memory
  std::vector<CopyRange> ranges;
  for (uint64_t i = 0; i < 10'000; i++) ranges.push_back({48 * i, 64 * (9'999 - i), 32});
  CHECK(bench.copy(source, target, ranges) == Status::kOk);
  there = bench.read(target, size);
  for (const auto& range : ranges) {
    CHECK(std::memcmp(&there[range.target], &data[range.source], range.length) == 0);
  }
}

void permutationsAgreeWithTheNaiveOne() {
  Bench bench;
  std::mt19937_64 random(21);
  constexpr uint64_t kSize = 1 << 18;
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  uint64_t copy = bench.allocate(Place::kPageable, kSize);
  auto data = randomBytes(random, kSize);
  bench.write(source, data);
  int done = 0;
  for (int round = 0; round < 60; round++) {
    BlockShape shape{};
    shape.runBytes = uint64_t{1} << (random() % 8);
    if (random() % 3 == 0) shape.runBytes *= 3;
    uint64_t bytes = shape.runBytes;
    for (auto& size : shape.sizes) {
      size = 1 + random() % 4;
      bytes *= size;
    }
    auto stridesOf = [&](uint64_t(&strides)[4]) {
      int order[] = {0, 1, 2, 3};
      std::shuffle(order, order + 4, random);
      uint64_t extent = shape.runBytes;
      for (int i : order) {
        strides[i] = extent;
        extent *= shape.sizes[i];
      }
    };
    stridesOf(shape.sourceStrides);
    stridesOf(shape.targetStrides);
    std::vector<BlockPair> blocks;
    uint64_t count = std::min<uint64_t>(kSize / bytes, 1 + random() % 9);
    uint64_t slack = random() % 2 == 0 ? 0 : random() % 16;
    for (uint64_t i = 0; i < count && (i + 1) * bytes + slack <= kSize; i++) {
      blocks.push_back({(count - 1 - i) * bytes, i * bytes + slack});
    }
    CHECK(permuteBlocks(bench.host(), source, copy, shape, blocks) == Status::kOk);
    CHECK(bench.copies().submitPermutation({1, true, 0, source, target}, shape, blocks) == Status::kOk);
    auto ended = bench.next();
    CHECK(ended.status == Status::kOk && ended.bytes == blocks.size() * bytes);
    // the oracle: index by index
    auto there = bench.read(target, kSize);
    auto onHost = bench.read(copy, kSize);
    CHECK(there == onHost);
    for (const auto& range : rangesOf(shape, blocks)) {
      CHECK(std::memcmp(&there[range.target], &data[range.source], range.length) == 0);
    }
    done++;
  }
  CHECK(done == 60);
  BlockShape bad{16, {1, 1, 1, 2}, {0, 0, 0, 16}, {0, 0, 0, 8}};
  CHECK(bench.copies().submitPermutation({1, true, 0, source, target}, bad, {{0, 0}}) == Status::kInvalid);
  BlockShape far{16, {1, 1, 1, 2}, {0, 0, 0, ~uint64_t{0}}, {0, 0, 0, 16}};
  CHECK(bench.copies().submitPermutation({1, true, 0, source, target}, far, {{0, 0}}) == Status::kRange);
  BlockShape none{16, {1, 0, 1, 2}, {0, 0, 0, 16}, {0, 0, 0, 16}};
  CHECK(bench.copies().submitPermutation({1, true, 0, source, target}, none, {{0, 0}}) == Status::kInvalid);
  BlockShape good{16, {1, 1, 1, 2}, {0, 0, 0, 16}, {0, 0, 0, 16}};
  CHECK(bench.copies().submitPermutation({1, true, 0, source, target}, good, {{0, 0}, {32, 16}}) ==
        Status::kInvalid);
  CHECK(bench.copies().submitPermutation({1, true, 0, copy, target}, good, {{0, 0}}) == Status::kUnsupported);
}

}  // namespace

void cudaDeviceTests() {
  copiesAgreeWithTheNaiveCopy(0);
  batchesLargerThanAPartArriveWhole();
  permutationsAgreeWithTheNaiveOne();
}

void cudaTests() {
  missingPartsAreNamed();
  methodsFollowTheTable();
  largePiecesAreCutIntoChunks();
  copiesAgreeWithTheNaiveCopy(12000);
  copiesAgreeWithTheNaiveCopy(12080);
  copiesAgreeWithTheNaiveCopy(13000);
  batchesLargerThanAPartArriveWhole();
  permutationsAgreeWithTheNaiveOne();
}
