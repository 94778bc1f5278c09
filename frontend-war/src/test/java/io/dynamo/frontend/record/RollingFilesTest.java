package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.watch.RequestTraceSettings;
import io.dynamo.config.watch.RequestTraceSettings.FileFormat;
import io.dynamo.config.watch.RequestTraceSettings.Kind;
import io.dynamo.config.watch.RequestTraceSettings.Sink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RollingFilesTest {
  private static final byte[] RECORD = "{\"a\":1}".getBytes(UTF_8);

  @TempDir Path folder;

  private RollingFiles files(
      FileFormat format, long rollBytes, @Nullable Integer rollLines, int maxFiles) {
    return new RollingFiles(
        new RequestTraceSettings(
            Set.of(Kind.REQUEST_END),
            Set.of(Sink.FILE),
            folder.resolve("below/trace"),
            format,
            Duration.ofSeconds(1),
            rollBytes,
            rollLines,
            maxFiles,
            10,
            Set.of(),
            1 << 20,
            TestSinks.SETTINGS,
            null));
  }

  private List<String> names() throws IOException {
    try (var files = Files.list(folder.resolve("below"))) {
      return files.map(it -> String.valueOf(it.getFileName())).sorted().toList();
    }
  }

  private List<String> lines(String name) throws IOException {
    var file = folder.resolve("below").resolve(name);
    try (var in =
        name.endsWith(".gz")
            ? new GZIPInputStream(Files.newInputStream(file))
            : Files.newInputStream(file)) {
      return new String(in.readAllBytes(), UTF_8).lines().toList();
    }
  }

  @Test
  void linesAreInOrderInFilesOfTheOwnerAlone() throws IOException {
    var files = files(FileFormat.JSONL, 1 << 20, 2, 10);
    for (int i = 0; i < 5; i++) {
      files.write(("{\"a\":" + i + "}").getBytes(UTF_8));
    }
    files.close();

    assertThat(names())
        .containsExactly("trace.000001.jsonl", "trace.000002.jsonl", "trace.000003.jsonl");
    assertThat(lines("trace.000001.jsonl"))
        .hasSize(2)
        .first()
        .satisfies(it -> assertThat(it).matches("\\{\"timestamp\":\\d+,\"event\":\\{\"a\":0}}"));
    assertThat(lines("trace.000003.jsonl")).hasSize(1);
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(folder.resolve("below/trace.000001.jsonl"))))
        .isEqualTo("rw-------");
  }

  @Test
  void compressedLinesAreReadableOnceTheyAreFlushed() throws IOException {
    var files = files(FileFormat.JSONL_GZ, 1 << 20, null, 10);
    files.write(RECORD);
    files.flush();

    var flushed = new ArrayList<Byte>();
    try (var in =
        new GZIPInputStream(Files.newInputStream(folder.resolve("below/trace.000001.jsonl.gz")))) {
      for (int next = in.read(); next != '\n'; next = in.read()) {
        flushed.add((byte) next);
      }
    }
    assertThat(flushed).hasSizeGreaterThan(RECORD.length);
    files.close();
    assertThat(lines("trace.000001.jsonl.gz")).hasSize(1);
  }

  @Test
  void newestFilesAreKept() throws IOException {
    for (int i = 0; i < 4; i++) { // a server that starts anew begins a new file
      var files = files(FileFormat.JSONL, 60, null, 3);
      files.write(RECORD);
      files.write(RECORD);
      files.close();
    }

    assertThat(names())
        .containsExactly("trace.000006.jsonl", "trace.000007.jsonl", "trace.000008.jsonl");
  }

  @Test
  void otherFilesAreLeftAlone() throws IOException {
    Files.createDirectories(folder.resolve("below"));
    Files.writeString(folder.resolve("below/trace.jsonl"), "x");
    Files.writeString(folder.resolve("below/trace.000001.jsonl.bak"), "x");
    Files.createSymbolicLink(
        folder.resolve("below/trace.000001.jsonl"), folder.resolve("elsewhere"));
    var files = files(FileFormat.JSONL, 1 << 20, null, 2);
    files.write(RECORD);
    files.close();

    assertThat(folder.resolve("elsewhere")).doesNotExist();
    assertThat(names()).contains("trace.jsonl", "trace.000001.jsonl.bak", "trace.000002.jsonl");
  }

  @Test
  void placeThatTakesNoFileFailsAndCostsNone() throws IOException {
    Files.writeString(folder.resolve("below"), "a file");
    var files = files(FileFormat.JSONL, 1 << 20, null, 1);

    assertThatThrownBy(() -> files.write(RECORD)).isInstanceOf(IOException.class);
    files.abandon();

    Files.delete(folder.resolve("below"));
    files.write(RECORD);
    files.close();
    assertThat(names()).containsExactly("trace.000001.jsonl");
  }
}
