package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.config.OfflineSettings;
import io.dynamo.json.Json;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.RegionAddress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchTransferCommandTest {
  private static final Duration LEASE = Duration.ofMinutes(1);

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void writeSettings() throws IOException {
    file =
        Files.writeString(
            folder.resolve("dynamo.properties"),
            """
            dynamo.worker.model-path = %s
            dynamo.native.extract-dir = %s
            dynamo.discovery.file-root = %s
            """
                .formatted(folder, folder, folder));
  }

  private CommandOutcome run(String... options) {
    return CommandOutcome.of(
        Stream.concat(Stream.of("bench-transfer", "--config", file.toString()), Stream.of(options))
            .toArray(String[]::new));
  }

  private RegionBench bench(JavaHostMemory memory) throws IOException {
    return new RegionBench(OfflineSettings.of(Map.of(), file).read(), memory);
  }

  @Test
  void everyWayOfThisHostIsNamedWithItsRateOrItsReason() {
    var outcome = run("--bytes", "16", "--rounds", "1");

    assertThat(outcome.error()).isEmpty();
    assertThat(outcome.status()).isZero();
    assertThat(outcome.out().lines().map(line -> line.replaceAll("[ :].*", "")))
        .startsWith("mem", "shm", "tcp", "disk")
        .endsWith("BLOCK", "4", "64", "1024", "16384");
    assertThat(outcome.out())
        .containsPattern("mem: within a process, .* GB/s and more, at least \\d+ % of memcpy")
        .containsPattern("shm: between processes .* [0-9.]+ GB/s, .* \\d+ and \\d+ % of memcpy")
        .containsPattern("shm: .* us; reads at [0-9.]+ GB/s")
        .containsPattern("tcp: from process to process, [0-9.]+ GB/s, .*, \\d+ % of plain sockets")
        .containsPattern("tcp: .* us; reads at [0-9.]+ GB/s; not encrypted")
        .containsPattern("disk: .* in .*, writes .* % of plain ones, reads [0-9.]+ GB/s, \\d+ %")
        .containsPattern(
            "nixl: (absent, .*dynamo.transfer.nixl.library|.*libnixl_capi.so.* by UCX)")
        .containsPattern("ucx: (absent, .*dynamo.transfer.ucx.library|not used, UCX 1.* RDMA)")
        .contains("not encrypted", "set dynamo.request.tcp.host", "take", "s by tcp")
        .contains("cuda: ");
  }

  @Test
  void copiesOfAGpuAreMeasuredBesideOneLargeCopy() {
    assumeTrue(NativeLibrary.isAvailable(), "no native library: there was no C++ compiler");
    var fake =
        Path.of("..", "native-nar", "target", "cpp-test", "libcuda-fake.so").toAbsolutePath();
    assertThat(fake).as("made by the build of native-nar, phase test").exists();
    String[] options = {"--bytes", "16", "--rounds", "1", "--cuda-library", fake.toString()};

    var outcome = run(options);

    assertThat(outcome.error()).isEmpty();
    assertThat(outcome.out())
        .containsPattern(
            "cuda: Fake GPU 0, CUDA 12.8; scattered blocks of 64 KiB to it at [0-9.]+ GB/s, \\d+ %"
                + " of one large copy, from it at .*, within it at");
  }

  @Test
  void aDriverThatIsNotThereIsNamed() {
    assumeTrue(NativeLibrary.isAvailable(), "no native library: there was no C++ compiler");

    var outcome =
        run("--bytes", "16", "--rounds", "1", "--json", "--cuda-library", "/none/libcuda.so.1");

    var paths = Json.readObject(outcome.out().getBytes(StandardCharsets.UTF_8));
    var cuda =
        paths.optionalObjects("paths").stream()
            .filter(path -> path.text("name").equals("cuda"))
            .toList();
    assertThat(cuda).hasSize(1);
    assertThat(cuda.getFirst().text("text")).contains("/none/libcuda.so.1", "--gpus all");
    assertThat(paths.members()).doesNotContainKey("cuda");
  }

  @Test
  void nixlIsMeasuredWhereItIs() throws IOException {
    var peer = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        peer.isEmpty() || peer.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment with NIXL");
    Path packages;
    try (var pythons = Files.newDirectoryStream(Path.of(peer, "lib"), "python3*")) {
      packages = pythons.iterator().next().resolve("site-packages");
    }
    Files.writeString(
        file, "dynamo.transfer.nixl.library = " + packages, StandardOpenOption.APPEND);
    var outcome = run("--bytes", "16", "--rounds", "1");

    assertThat(outcome.out())
        .containsPattern(
            "nixl: .*libnixl_capi.so by UCX, plug-ins .*UCX.*; .* writes [0-9.]+ GB/s");
  }

  @Test
  void ucxIsMeasuredWhereItIsUsed() throws IOException {
    var peer = System.getProperty("dynamo.it.peer", "");
    assumeFalse(
        peer.isEmpty() || peer.equals("skip"),
        "left out: -Ddynamo.it.peer names no Python environment with UCX");
    Path packages;
    try (var pythons = Files.newDirectoryStream(Path.of(peer, "lib"), "python3*")) {
      packages = pythons.iterator().next().resolve("site-packages");
    }
    Files.writeString(
        file,
        "dynamo.transfer.ucx.library = " + packages + "\ndynamo.transfer.ucx.mode = always\n",
        StandardOpenOption.APPEND);
    var outcome = run("--bytes", "16", "--rounds", "1");

    assertThat(outcome.error()).isEmpty();
    assertThat(outcome.out())
        .containsPattern("ucx: UCX 1[.].* at .*libucp.*, also over TCP, .* [0-9.]+ GB/s; 4 KiB");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 5}) // a put answers an error, no memory is registered: see fake/ucp.h
  void anUcxThatWritesNothingIsNamedAndTheOthersAreMeasured(int fault) throws Throwable {
    assumeTrue(NativeLibrary.isAvailable(), "no native library: there was no C++ compiler");
    var fake =
        Path.of("..", "native-nar", "target", "cpp-test", "ucx", "libucp.so").toAbsolutePath();
    assertThat(fake).as("made by the build of native-nar, phase test").exists();
    Files.writeString(
        file,
        "dynamo.transfer.ucx.library = " + fake + "\ndynamo.transfer.ucx.mode = always\n",
        StandardOpenOption.APPEND);
    setFault(fake, fault);
    try {
      var outcome = run("--bytes", "16", "--rounds", "1");

      assertThat(outcome.error()).isEmpty();
      assertThat(outcome.status()).isZero();
      assertThat(outcome.out())
          .containsPattern("ucx: absent, UCX 1[.]20[.]0 at .*libucp.so writes no bytes: .*")
          .contains("tcp: from process to process");
    } finally {
      setFault(fake, 0);
    }
  }

  @SuppressWarnings("restricted") // calls the library of the tests
  private static void setFault(Path fake, int fault) throws Throwable {
    // the library stays open, and so keeps its fault
    var function = SymbolLookup.libraryLookup(fake, Arena.global()).findOrThrow("fake_ucp_set");
    Linker.nativeLinker()
        .downcallHandle(function, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
        .invokeExact(fault);
  }

  @Test
  void aFolderThatCannotBeUsedIsNamed() {
    var outcome =
        run("--bytes", "16", "--rounds", "1", "--disk", folder.resolve("none").toString());

    assertThat(outcome.status()).isNotZero();
    assertThat(outcome.error()).contains("none", "--disk");
  }

  @Test
  void jsonHasTheSameFigures() {
    // more blocks of 4 KiB than there is room for in a batch
    var outcome = run("--bytes", "96", "--rounds", "1", "--json");

    var read = Json.readObject(outcome.out().getBytes(StandardCharsets.UTF_8));
    assertThat(read.list("rows")).hasSize(4);
    assertThat(read.list("paths")).hasSizeGreaterThanOrEqualTo(2);
    assertThat((Double) read.object("shm").members().get("first_gigabytes_per_second"))
        .isPositive();
    for (var way : new String[] {"shm", "tcp"}) {
      var figures = read.object(way).members();
      assertThat((Double) figures.get("gigabytes_per_second")).isPositive();
      assertThat((Double) figures.get("read_gigabytes_per_second")).isPositive();
    }
  }

  @Test
  void bytesOfAnotherProcessArriveAtTheAddressThatWasPrinted() throws Exception {
    try (var memory = new JavaHostMemory();
        var receiver = bench(memory);
        var sender = bench(memory);
        var region = memory.allocate(100_000)) {
      String word;
      try (var export = receiver.lend(region, LEASE)) {
        word = RegionBench.word(export.address());

        var rates = sender.measure(RegionBench.address(word), 2);

        assertThat(rates.gigabytesPerSecond()).isPositive();
        assertThat(rates.smallMicros()).isPositive();
        var outcome = run("--rounds", "1", "--to", word);
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).contains("tcp: ", " GB/s to 127.0.0.1:");
      }
      var ended = RegionBench.address(word);
      assertThatThrownBy(() -> sender.measure(ended, 1))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("firewall");
    }
  }

  @Test
  void theReceivingHostPrintsTheCommandOfTheOther() {
    var outcome = run("--receive", "--for", "1", "--bytes", "16");

    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).startsWith("dynamo bench-transfer --to dkv1:");
    var word = outcome.out().strip().replaceAll(".* ", "");
    assertThat(RegionBench.address(word).byteSize()).isEqualTo(16 << 20);
    assertThat(outcome.error()).contains("waits 1 seconds", "not encrypted");
  }

  @Test
  void addressesThatNobodyPrintedAreRefused() {
    var large = new RegionAddress("127.0.0.1", 1, 1, new byte[32], 2 * RegionBench.MAX_BYTES);
    for (var word : new String[] {"", "127.0.0.1:1", "dkv1:", "dkv1:!", "dkv1:e30"}) {
      assertThatIllegalArgumentException().isThrownBy(() -> RegionBench.address(word));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RegionBench.address(RegionBench.word(large)))
        .withMessageContaining("exceeds");
    assertThat(run("--to", "dkv1:e30").status()).isEqualTo(ExitCode.USAGE);
    assertThat(run("--rounds", "0").status()).isEqualTo(ExitCode.USAGE);
    assertThat(run("--receive", "--to", "x").status()).isEqualTo(ExitCode.USAGE);
    assertThat(run("--for", "0").status()).isEqualTo(ExitCode.USAGE);
  }
}
