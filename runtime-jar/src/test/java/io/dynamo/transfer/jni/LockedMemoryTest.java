package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.DeviceMemory.PinnedUse;
import io.dynamo.transfer.HostMemory.Residency;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pinned regions without a GPU: locked where the kernel allows it, and usable where not. */
class LockedMemoryTest {
  private static final int SIZE = 1 << 20;

  @Test
  void theKernelCountsLockedRegionsUntilTheyAreClosed() throws Exception {
    long before = LockedMemoryPeer.lockedKilobytes();
    long held = TransferPath.heldBytes();
    try (var memory = new NativeHostMemory()) {
      var region = memory.allocatePinned(SIZE);
      assumeTrue(region.residency() == Residency.PINNED_SOFT, "memory cannot be locked here");
      assertThat(LockedMemoryPeer.lockedKilobytes()).isEqualTo(before + SIZE / 1024);
      assertThat(TransferPath.heldBytes()).isEqualTo(held + SIZE);
      assertThat(NativeLibrary.probe())
          .contains("\"pinned_soft\":{\"present\":true,\"locked_bytes\":" + SIZE);
      region.close();
      region.close();
      assertThat(LockedMemoryPeer.lockedKilobytes()).isEqualTo(before);
      assertThatIllegalStateException().isThrownBy(() -> TransferPath.bytes(region));
      memory.allocatePinned(SIZE); // closed with the memory
    }
    assertThat(LockedMemoryPeer.lockedKilobytes()).isEqualTo(before);
    assertThat(TransferPath.heldBytes()).isEqualTo(held);
    assertThat(NativeLibrary.probe()).contains("\"locked_bytes\":0,\"unlocked_bytes\":0");
  }

  @Test
  void aGpuPinsRegionsThatTheKernelHasLocked() {
    var fake = new FakeCuda(FakeCuda.CUDA_12_8);
    try (var memory = new NativeHostMemory();
        var device = new NativeDeviceMemory(memory, 0, fake.library())) {
      var region = memory.allocatePinned(SIZE);
      assertThat(device.pin(region)).isTrue();
      assertThat(region.residency()).isEqualTo(Residency.PINNED);
      assertThat(device.pin(region)).isFalse();
      assertThat(device.allocatePinned(SIZE, PinnedUse.READ_AND_WRITE).residency())
          .isEqualTo(Residency.PINNED);
    }
    assertThat(fake.violations()).isZero();
  }

  /** The process may lock 64 KiB: less is locked, more is not, and both work. */
  @Test
  void aLimitOfTheKernelTakesNothingButTheLock(@TempDir Path folder) throws Exception {
    var answers = withoutPrivileges(folder, 64 << 10, SIZE, 4096);
    assertThat(answers).hasSize(5);
    assertThat(answers.getFirst()).isEqualTo("PAGEABLE true 0");
    assertThat(answers.get(1))
        .contains("\"pinned_soft\":{\"present\":true,\"locked_bytes\":0,\"unlocked_bytes\":" + SIZE)
        .contains("\"limit_bytes\":65536,\"reason\":\"mlock: errno ");
    assertThat(answers.get(2)).isEqualTo("PINNED_SOFT true 4");
    assertThat(answers.get(3)).contains("\"locked_bytes\":4096,\"unlocked_bytes\":0");
    assertThat(answers.getLast()).isEqualTo("0");
  }

  /** The process may lock nothing. */
  @Test
  void aProcessThatMayLockNothingStarts(@TempDir Path folder) throws Exception {
    var answers = withoutPrivileges(folder, 0, 4096);
    assertThat(answers.getFirst()).isEqualTo("PAGEABLE true 0");
    assertThat(answers.get(1))
        .contains("\"pinned_soft\":{\"present\":false", "\"limit_bytes\":0,\"reason\":\"mlock: ");
  }

  /** Returns the answers of a {@link LockedMemoryPeer}. */
  private static List<String> withoutPrivileges(Path folder, int limit, int... sizes)
      throws Exception {
    var command = new ArrayList<>(List.of("prlimit", "--memlock=" + limit));
    if (isRoot()) { // whom no limit binds as long as he has this capability
      command.addAll(List.of("setpriv", "--bounding-set=-ipc_lock"));
    }
    assumeTrue(runs(command), "this process cannot lower its limit by prlimit and setpriv");
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            LockedMemoryPeer.class.getName(),
            folder.toString()));
    for (int size : sizes) {
      command.add(String.valueOf(size));
    }
    var output = folder.resolve("output");
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("the process ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    var lines = Files.readAllLines(output, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as("%s", lines).isZero();
    assertThat(lines.stream().filter(line -> line.contains("ulimit -l (LimitMEMLOCK")))
        .as("the log says so once: %s", lines)
        .hasSize(1);
    return lines.stream()
        .filter(line -> line.startsWith(LockedMemoryPeer.ANSWER))
        .map(line -> line.substring(LockedMemoryPeer.ANSWER.length()))
        .toList();
  }

  private static boolean runs(List<String> prefix) throws InterruptedException {
    var command = new ArrayList<>(prefix);
    command.add("true");
    try {
      return new ProcessBuilder(command).start().waitFor() == 0;
    } catch (IOException _) {
      return false; // a tool is missing
    }
  }

  private static boolean isRoot() throws Exception {
    return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
  }
}
