package io.dynamo.fuzz;

import io.dynamo.frontend.media.MediaReadersFuzz;
import io.dynamo.frontend.openai.wire.RequestBodyFuzz;
import io.dynamo.frontend.postprocess.tools.ToolCallTextFuzz;
import io.dynamo.frontend.preprocess.jinja.TemplateFuzz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replays the inputs that fuzzing has kept, and changes of each, on this module's fuzz targets. The
 * fuzzer itself is {@code .ci/fuzz}.
 */
class FuzzCorpusTest {
  private static final Path CORPUS = Path.of("src/test/resources/fuzz");
  private static final int CHANGES = 200; // of each input
  private static final Map<String, Consumer<byte[]>> TARGETS =
      Map.of(
          "MediaReadersFuzz",
          MediaReadersFuzz::fuzzerTestOneInput,
          "RequestBodyFuzz",
          RequestBodyFuzz::fuzzerTestOneInput,
          "TemplateFuzz",
          TemplateFuzz::fuzzerTestOneInput,
          "ToolCallTextFuzz",
          ToolCallTextFuzz::fuzzerTestOneInput);

  static Stream<Path> inputs() throws IOException {
    try (var files = Files.walk(CORPUS)) {
      return files.filter(Files::isRegularFile).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("inputs")
  void inputIsReadOrRefused(Path input) throws IOException {
    var folder = Objects.requireNonNull(input.getParent()).getFileName().toString();
    var target = Objects.requireNonNull(TARGETS.get(folder), folder);
    byte[] bytes = Files.readAllBytes(input);
    target.accept(bytes);
    var random = new Random(bytes.length);
    for (int i = 0; i < CHANGES && bytes.length > 0; i++) {
      byte[] changed = bytes.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      }
      target.accept(changed);
    }
  }
}
