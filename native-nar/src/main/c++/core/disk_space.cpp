#include "disk_space.h"

#include "../backend/fault/fault_disk.h"

namespace dynamo {

Status DiskSpace::open(RegionTable& table, Options options, std::unique_ptr<DiskSpace>* opened, int* error) {
  std::unique_ptr<DiskFile> file;
  Status status = DiskFile::create(options.folder, options.bytes, options.cache, &file, error);
  if (status != Status::kOk) return status;
  std::unique_ptr<DiskIo> io;
  const char* why = nullptr;
  status = DiskIo::open(options.way, &io, &why);
  if (status != Status::kOk) return status;
  if (!options.faults.isEmpty()) io = std::make_unique<FaultDisk>(std::move(io), std::move(options.faults));
  opened->reset(new DiskSpace(table, std::move(file), std::move(io)));
  return Status::kOk;
}

Status DiskSpace::submit(uint64_t ticket, bool write, const Range& range, uint64_t deadlineNanos) {
  auto pin = std::make_unique<RegionTable::Pin>();
  Status status = table_.pin(range.region, pin.get());
  if (status != Status::kOk) return status;
  std::byte* memory = pin->at(range.regionOffset, range.bytes);
  if (memory == nullptr) return Status::kRange;
  std::lock_guard<std::mutex> lock(mutex_);  // its completion finds the pin
  if (!pins_.emplace(ticket, std::move(pin)).second) return Status::kInvalid;
  status = io_->submit({ticket, write, file_.get(), range.offset, memory, range.bytes, deadlineNanos});
  if (status != Status::kOk) pins_.erase(ticket);
  return status;
}

Status DiskSpace::await(uint64_t maxNanos, std::vector<DiskIo::Completion>* ended) {
  bool closed;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed = closed_;
  }
  *ended = io_->await(maxNanos);
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& one : *ended) pins_.erase(one.ticket);
  return ended->empty() && closed ? Status::kStale : Status::kOk;
}

void DiskSpace::close() {
  io_->close();
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
}

}  // namespace dynamo
