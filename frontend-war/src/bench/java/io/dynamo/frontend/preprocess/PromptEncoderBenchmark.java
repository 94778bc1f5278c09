package io.dynamo.frontend.preprocess;

import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The prompt of a chat of 40,000 words that grows by a question and an answer each time. Run {@code
 * mvn verify -Pbench -pl frontend-war -am -Dbench=PromptEncoderBenchmark}.
 */
@NullUnmarked // JMH fills the fields before it measures
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class PromptEncoderBenchmark {
  private static final int WORDS = 40_000;
  private static final int GROWN_WORDS = 50_000; // where a new chat begins
  private static final String[] SYLLABLES =
      "the wa ter peo ple found in night an un be liev able con ver sa tion on pro gram ming of at"
          .split(" ");

  @Param({"0", "67108864"})
  int cacheBytes;

  /** Words of one message. */
  @Param({"100", "1000"})
  int messageWords;

  private Random random;
  private HuggingFaceText text;
  private StringBuilder chat;
  private String prompt;
  private int words;

  @Setup
  public void open() throws IOException {
    var folder = Path.of("../server-config/src/main/liberty/config/models/tiny");
    var tokenizer = Files.readString(folder.resolve("tokenizer.json"));
    random = new Random(1);
    text =
        HuggingFaceText.of(
            Map.of("tokenizer.json", tokenizer), "", new PrefixCache(cacheBytes, new Metrics()));
    begin();
  }

  private void begin() {
    chat = new StringBuilder("<|im_start|>system\nBe brief.<|im_end|>\n");
    words = 0;
    while (words < WORDS) {
      grow();
    }
    text.encode(chat + "<|im_start|>assistant\n");
  }

  private void grow() {
    for (var role : new String[] {"user", "assistant"}) {
      chat.append("<|im_start|>").append(role).append('\n');
      for (int i = 0; i < messageWords; i++) {
        for (int syllables = 1 + random.nextInt(3); syllables > 0; syllables--) {
          chat.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
        }
        chat.append(i % 12 == 11 ? ".\n" : " ");
      }
      chat.append("<|im_end|>\n");
      words += messageWords;
    }
  }

  @TearDown
  public void close() {
    text.close();
  }

  /** Prepares the parts that no request pays for: the text, and the first prompt of a new chat. */
  @Setup(Level.Invocation)
  public void say() {
    if (words >= GROWN_WORDS) {
      begin();
    }
    grow();
    prompt = chat + "<|im_start|>assistant\n";
  }

  @Benchmark
  public int[] nextTurn() {
    return text.encode(prompt);
  }
}
