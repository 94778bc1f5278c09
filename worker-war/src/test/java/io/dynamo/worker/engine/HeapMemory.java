package io.dynamo.worker.engine;

import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.TransferClient;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** Host memory on the heap, whose bytes a test can corrupt. */
public final class HeapMemory implements HostMemory {
  /** A region that records whether it was freed. */
  public static final class HeapRegion implements Region {
    private final ByteBuffer bytes;
    private boolean closed;

    HeapRegion(int size) {
      bytes = ByteBuffer.allocate(size);
    }

    private ByteBuffer open() {
      if (closed) {
        throw new IllegalStateException("closed region");
      }
      return bytes;
    }

    public boolean isClosed() {
      return closed;
    }

    @Override
    public long byteSize() {
      return bytes.capacity();
    }

    @Override
    public void write(long offset, ByteBuffer from) {
      open().put((int) offset, from, from.position(), from.remaining());
    }

    @Override
    public void read(long offset, ByteBuffer into) {
      into.put(open().slice((int) offset, into.remaining()));
    }

    @Override
    public Residency residency() {
      return Residency.PAGEABLE;
    }

    @Override
    public int crc32c(long offset, long length) {
      var crc = new CRC32C();
      crc.update(open().slice((int) offset, (int) length));
      return (int) crc.getValue();
    }

    @Override
    public MemorySegment view(Arena until) {
      return MemorySegment.ofBuffer(open());
    }

    /** Flips one bit. */
    public void spoil(int offset) {
      bytes.put(offset, (byte) (bytes.get(offset) ^ 1));
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private final List<HeapRegion> regions = new ArrayList<>();

  public List<HeapRegion> regions() {
    return regions;
  }

  @Override
  public String kind() {
    return "java";
  }

  @Override
  public Region allocate(long byteSize) {
    var region = new HeapRegion(Math.toIntExact(byteSize));
    regions.add(region);
    return region;
  }

  @Override
  public Region allocateShared(long byteSize) {
    return allocate(byteSize);
  }

  @Override
  public Region allocatePinned(long byteSize) {
    return allocate(byteSize);
  }

  @Override
  public void copy(Region source, Region target, CopyBatch batch) {
    throw new UnsupportedOperationException("no copies in these tests");
  }

  @Override
  public TransferClient transfers() {
    throw new UnsupportedOperationException("no transfers in these tests");
  }

  @Override
  public void close() {
    regions.forEach(HeapRegion::close);
  }
}
