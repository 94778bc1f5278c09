package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.event.Until;
import io.dynamo.natives.CudaDevices;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.BlockPermutation;
import io.dynamo.transfer.BlockRegion;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.DeviceLostException;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.DeviceMemoryExhaustedException;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemoryExhaustedException;
import io.dynamo.transfer.RandomBatch;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferBusyException;
import io.dynamo.transfer.TransferClient.Priority;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Copies by the native library's CUDA backend, over a fake driver. */
class NativeDeviceMemoryTest {
  private static final int SIZE = 1 << 18;
  private static final int ILLEGAL_ADDRESS = 700;
  private static final int OUT_OF_MEMORY = 2;

  @SuppressWarnings("NullAway.Init") // opened by each test
  private FakeCuda fake;

  @SuppressWarnings("NullAway.Init") // as the fake
  private NativeHostMemory host;

  @SuppressWarnings("NullAway.Init") // null when the fake is not there
  private NativeDeviceMemory device;

  private long heldBefore;
  private long liveBefore;

  private void open(int version) {
    fake = new FakeCuda(version);
    heldBefore = CudaDevices.heldBytes() + NativeTransfer.heldBytes();
    liveBefore = fake.live();
    host = new NativeHostMemory();
    device = new NativeDeviceMemory(host, 0, fake.library());
  }

  @AfterEach
  void nothingIsLeft() {
    if (device == null) {
      return;
    }
    fake.allow(-1);
    device.close();
    host.close();
    Until.holds(() -> CudaDevices.heldBytes() + NativeTransfer.heldBytes() == heldBefore);
    Until.holds(() -> fake.live() == liveBefore);
    assertThat(fake.violations()).isZero();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(60));
  }

  private Transfer copy(BlockRegion from, BlockRegion to, CopyBatch batch) {
    return device.transfers().copy(from, to, batch, Priority.ONBOARD, soon());
  }

  private byte[] bytes(BlockRegion region) throws InterruptedException {
    var all = ByteBuffer.allocate((int) region.byteSize());
    if (region instanceof HostMemory.Region there) {
      there.read(0, all);
      return all.array();
    }
    try (var staging = device.allocatePinned(region.byteSize(), PinnedUse.READ_AND_WRITE)) {
      copy(region, staging, new CopyBatch().add(0, 0, region.byteSize())).await(soon());
      staging.read(0, all);
    }
    return all.array();
  }

  private void write(BlockRegion region, byte[] data) throws InterruptedException {
    if (region instanceof HostMemory.Region there) {
      there.write(0, ByteBuffer.wrap(data));
      return;
    }
    try (var staging = device.allocatePinned(data.length, PinnedUse.WRITE_ONLY)) {
      staging.write(0, ByteBuffer.wrap(data));
      copy(staging, region, new CopyBatch().add(0, 0, data.length)).await(soon());
    }
  }

  /** Each version of the driver is called in its own ways, and copies the same. */
  @ParameterizedTest
  @ValueSource(ints = {FakeCuda.CUDA_12_0, FakeCuda.CUDA_12_8, FakeCuda.CUDA_13})
  void everyDriverIsCalledInItsWay(int version) throws Exception {
    open(version);
    var random = new Random(version);
    var regions = new ArrayList<BlockRegion>();
    for (int i = 0; i < 2; i++) {
      regions.add(device.allocate(SIZE));
      regions.add(device.allocatePinned(SIZE, PinnedUse.READ_AND_WRITE));
      regions.add(host.allocate(SIZE));
    }
    int refused = 0;
    for (var from : regions.subList(0, 3)) {
      for (var to : regions.subList(3, 6)) {
        if (from instanceof HostMemory.Region && to instanceof HostMemory.Region) {
          continue;
        }
        var data = new byte[SIZE];
        random.nextBytes(data);
        write(from, data);
        var expected = bytes(to);
        for (int round = 0; round < 12; round++) {
          var drawn = RandomBatch.scattered(random, data, expected);
          var transfer = copy(from, to, drawn.ranges());
          if (drawn.isAmbiguous()) {
            assertThatIllegalArgumentException().isThrownBy(() -> transfer.await(soon()));
            refused++;
          } else {
            assertThat(transfer.await(soon())).isEqualTo(drawn.byteSize());
          }
          expected = drawn.expected();
        }
        assertThat(bytes(to)).isEqualTo(expected);
      }
    }
    assertThat(refused).isPositive();
    assertThat(device.transfers().counts().failed()).isZero(); // refusals never reach the thread
    assertThat(fake.calls("cuMemcpyBatchAsync") > 0).isEqualTo(version == FakeCuda.CUDA_12_8);
    assertThat(fake.calls("cuMemcpyBatchAsync_v2") > 0).isEqualTo(version == FakeCuda.CUDA_13);
    assertThat(fake.calls("cuLaunchKernel")).isPositive();
  }

  @Test
  void permutationsAgreeWithTheirRanges() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var random = new Random(3);
    var source = device.allocate(SIZE);
    var target = device.allocate(SIZE);
    var data = new byte[SIZE];
    random.nextBytes(data);
    write(source, data);
    // [2][3][4][8] runs of 48 bytes become [8][4][3][2]
    var permutation =
        new BlockPermutation(
            48,
            new long[] {2, 3, 4, 8},
            new long[] {4608, 1536, 384, 48},
            new long[] {48, 96, 288, 1152},
            new long[] {0, 9216, 9216, 0});
    var expected = new byte[SIZE];
    var ranges = permutation.toRanges();
    assertThat(ranges.count()).isEqualTo(2 * 192);
    for (int i = 0; i < ranges.count(); i++) {
      System.arraycopy(
          data, (int) ranges.sourceOffset(i), expected, (int) ranges.targetOffset(i), 48);
    }

    assertThat(device.permute(source, target, permutation, Priority.OFFLOAD, soon()).await(soon()))
        .isEqualTo(2 * 192 * 48);

    assertThat(bytes(target)).isEqualTo(expected);
    var plain = host.allocate(SIZE);
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> device.permute(source, plain, permutation, Priority.OFFLOAD, soon()))
        .withMessageContaining("pin it");
    assertThat(device.pin(plain)).isTrue();
    assertThat(device.pin(plain)).isFalse();
    device.permute(source, plain, permutation, Priority.OFFLOAD, soon()).await(soon());
    assertThat(bytes(plain)).isEqualTo(expected);
  }

  @Test
  void missingDriversAndDevicesAreNamed() {
    fake = new FakeCuda(FakeCuda.CUDA_12_8);
    try (var memory = new NativeHostMemory()) {
      assertThatExceptionOfType(DeviceUnavailableException.class)
          .isThrownBy(() -> new NativeDeviceMemory(memory, 0, Path.of("/none/libcuda.so.1")))
          .withMessageContaining("/none/libcuda.so.1");
      assertThatExceptionOfType(DeviceUnavailableException.class)
          .isThrownBy(() -> new NativeDeviceMemory(memory, 7, fake.library()))
          .withMessageContaining("there is no GPU 7");
      fake.reset(FakeCuda.CUDA_12_8, 0);
      assertThatExceptionOfType(DeviceUnavailableException.class)
          .isThrownBy(() -> new NativeDeviceMemory(memory, 0, fake.library()))
          .withMessageContaining("CUDA_ERROR_NO_DEVICE");
    }
  }

  @Test
  void aGpuDescribesItself() {
    open(FakeCuda.CUDA_13);
    var facts = device.facts();
    assertThat(facts.name()).isEqualTo("Fake GPU 0");
    assertThat(facts.uuid()).isEqualTo("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    assertThat(facts.driverVersion()).isEqualTo("13.0");
    assertThat(facts.computeCapability()).isEqualTo("9.0");
    assertThat(facts.byteSize()).isEqualTo(8L << 30);
    assertThat(facts.whyNoKernels()).isEmpty();
    assertThat(device.transfers().kind()).isEqualTo("cuda");
    assertThat(device.transfers().capacity()).isEqualTo(4096);
  }

  @Test
  void rangesThatLeaveTheirRegionAreNamed() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var from = host.allocate(100);
    var to = device.allocate(100);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> copy(from, to, new CopyBatch().add(0, 0, 1).add(90, 0, 11)).await(soon()))
        .withMessageContaining("range 1: source offset 90, length 11 is not within 100 bytes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> copy(from, from, new CopyBatch().add(0, 50, 1)).await(soon()))
        .withMessageContaining("neither side is on the GPU");
    try (var other = new NativeHostMemory()) {
      var foreign = other.allocate(100);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> copy(foreign, to, new CopyBatch().add(0, 0, 1)).await(soon()));
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  host.transfers()
                      .copy(from, to, new CopyBatch().add(0, 0, 1), Priority.ONBOARD, soon())
                      .await(soon()));
    }
    to.close();
    to.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> copy(from, to, new CopyBatch().add(0, 0, 1)).await(soon()));
    assertThatIllegalArgumentException().isThrownBy(() -> device.allocate(0));
    assertThatExceptionOfType(DeviceMemoryExhaustedException.class)
        .isThrownBy(() -> device.allocate(1L << 50))
        .withMessageContaining("Fake GPU 0");
    fake.fail("cuMemHostAlloc", 1, OUT_OF_MEMORY);
    assertThatExceptionOfType(HostMemoryExhaustedException.class)
        .isThrownBy(() -> device.allocatePinned(100, PinnedUse.READ_AND_WRITE));
  }

  @Test
  void aRegionThatIsClosedKeepsItsBytesUntilTheGpuHasLetGo() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var from = device.allocatePinned(SIZE, PinnedUse.READ_AND_WRITE);
    var to = device.allocate(SIZE);
    var data = new byte[SIZE];
    new Random(1).nextBytes(data);
    from.write(0, ByteBuffer.wrap(data));
    fake.allow(0);
    long before = fake.calls("cuMemcpyAsync");
    var transfer = copy(from, to, new CopyBatch().add(0, 0, SIZE));
    Until.holds(() -> fake.calls("cuMemcpyAsync") > before);
    from.close();
    transfer.cancel(); // its bytes are on their way: they stay in place
    assertThat(NativeTransfer.heldBytes()).isGreaterThanOrEqualTo(SIZE);
    fake.allow(-1);
    assertThatExceptionOfType(CancelledException.class).isThrownBy(() -> transfer.await(soon()));
    assertThat(bytes(to)).isEqualTo(data);
  }

  @Test
  void requestsBeyondTheRoomAreRefusedAndTheRestEnds() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var from = host.allocate(SIZE);
    var to = device.allocate(SIZE);
    fake.allow(0);
    var accepted = new ArrayList<Transfer>();
    int refused = 0;
    for (int i = 0; i < device.transfers().capacity() + 10; i++) {
      try {
        accepted.add(copy(from, to, new CopyBatch().add(0, 0, 64)));
      } catch (TransferBusyException full) {
        refused++;
      }
    }
    assertThat(refused).isEqualTo(10);
    var late =
        Deadline.after(Duration.ofNanos(-1)); // of requests that are refused, for want of room
    fake.allow(-1);
    for (var one : accepted) {
      assertThat(one.await(soon())).isEqualTo(64);
    }
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(
            () ->
                device
                    .transfers()
                    .copy(from, to, new CopyBatch().add(0, 0, 1), Priority.OFFLOAD, late)
                    .await(soon()));
  }

  @Test
  void aLostGpuEndsEverythingAndOthersGoOn() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var from = host.allocate(SIZE);
    var to = device.allocate(SIZE);
    fake.failWork(1, ILLEGAL_ADDRESS);
    var transfer = copy(from, to, new CopyBatch().add(0, 0, SIZE));
    assertThatExceptionOfType(DeviceLostException.class)
        .isThrownBy(() -> transfer.await(soon()))
        .withMessageContaining("Fake GPU 0")
        .withMessageContaining("CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assertThatExceptionOfType(DeviceLostException.class)
        .isThrownBy(() -> copy(from, to, new CopyBatch().add(0, 0, 1)).await(soon()));
    assertThatExceptionOfType(DeviceLostException.class).isThrownBy(() -> device.allocate(1));
    var other = host.allocate(SIZE);
    assertThat(
            host.transfers()
                .copy(from, other, new CopyBatch().add(0, 0, SIZE), Priority.ONBOARD, soon())
                .await(soon()))
        .isEqualTo(SIZE);
  }

  @Test
  void failedCallsEndTheirTransferWithTheDriversReason() throws Exception {
    open(FakeCuda.CUDA_12_8);
    var from = host.allocate(SIZE);
    var to = device.allocate(SIZE);
    fake.fail("cuMemcpyAsync", 1, 1);
    assertThatIllegalStateException()
        .isThrownBy(() -> copy(from, to, new CopyBatch().add(0, 0, 1)).await(soon()))
        .withMessageContaining("CUDA_ERROR_INVALID_VALUE (1)");
    assertThat(copy(from, to, new CopyBatch().add(0, 0, 1)).await(soon())).isEqualTo(1);
  }

  @Test
  void memoryOfAnotherProcessIsReadUnderItsLease() throws Exception {
    open(FakeCuda.CUDA_12_8);
    fake.letImportOwn();
    var own = device.allocate(SIZE);
    var data = new byte[SIZE];
    new Random(5).nextBytes(data);
    write(own, data);
    byte[] name = device.export(own);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> device.importRegion(name, SIZE + 1, Duration.ofMinutes(1)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> device.importRegion(new byte[3], SIZE, Duration.ofMinutes(1)));
    var imported = device.importRegion(name, SIZE, Duration.ofMinutes(1));
    assertThat(bytes(imported)).isEqualTo(data);
    long held = CudaDevices.heldBytes();
    imported.renew(Duration.ZERO); // over, as of now
    assertThatIllegalStateException().isThrownBy(() -> bytes(imported));
    assertThatIllegalStateException().isThrownBy(() -> imported.renew(Duration.ofMinutes(1)));
    Until.holds(() -> CudaDevices.heldBytes() == held - SIZE); // it closes by itself
  }

  @Test
  void closingEndsTransfersAndRefusesMore() {
    open(FakeCuda.CUDA_12_8);
    var from = host.allocate(SIZE);
    var to = device.allocate(SIZE);
    var transfer = copy(from, to, new CopyBatch().add(0, 0, SIZE));
    device.close();
    assertThat(transfer.outcome().toCompletableFuture()).isDone();
    assertThatIllegalStateException().isThrownBy(() -> device.allocate(1));
    assertThatIllegalStateException()
        .isThrownBy(() -> copy(from, to, new CopyBatch().add(0, 0, 1)).await(soon()));
  }
}
