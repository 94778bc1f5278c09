package io.dynamo.frontend.postprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.StopReason;
import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextAssemblerTest {
  private static final int EOS = 256;

  /** One token per byte, and an end-of-text token. */
  private static final TokenTable BYTES =
      new TokenTable() {
        @Override
        public int size() {
          return 257;
        }

        @Override
        public byte[] bytes(int id) {
          return id == EOS ? "<eos>".getBytes(StandardCharsets.UTF_8) : new byte[] {(byte) id};
        }

        @Override
        public boolean isSpecial(int id) {
          return id == EOS;
        }
      };

  private record Outcome(String text, @Nullable FinishReason finish, @Nullable String stop) {}

  @Test
  void holdsBackTheBeginningOfAStop() {
    var assembler = assembler(stops("END"), false);

    assertThat(assembler.accept(item("abE")).text()).isEqualTo("ab");
    assertThat(assembler.accept(item("N")).text()).isEmpty();
    assertThat(assembler.accept(item("o")).text()).isEqualTo("ENo");
    assertThat(assembler.accept(item("EN")).text()).isEmpty();
    var last = assembler.accept(item("D ignored"));
    assertThat(last).isEqualTo(new TextDelta("", 1, FinishReason.STOP, new StopReason.Text("END")));
    assertThat(assembler.accept(item("more"))).isEqualTo(new TextDelta("", 0, null, null));
  }

  @Test
  void flushesHeldBackTextAtTheEnd() {
    var assembler = assembler(stops("END"), false);
    assembler.accept(item("abEN"));

    var last = assembler.accept(EngineOutput.finish(FinishReason.LENGTH, null));
    assertThat(last).isEqualTo(new TextDelta("EN", 0, FinishReason.LENGTH, null));
  }

  @Test
  void includesTheStopOnRequestAndHoldsNothingBack() {
    var assembler = assembler(stops("END"), true);

    assertThat(assembler.accept(item("abEN")).text()).isEqualTo("abEN");
    assertThat(assembler.accept(item("Dx")))
        .isEqualTo(new TextDelta("D", 1, FinishReason.STOP, new StopReason.Text("END")));
  }

  @Test
  void hidesTheEndOfTextAndTheStopId() {
    var eos = assembler(stops(), false);
    assertThat(eos.accept(EngineOutput.ofTokens('a', EOS, 'b')))
        .isEqualTo(new TextDelta("a", 2, FinishReason.EOS, null));

    var stopId =
        assembler(new StopConditions(null, List.of(), List.of((int) 'x'), null, false), false);
    assertThat(stopId.accept(item("axb")))
        .isEqualTo(new TextDelta("a", 2, FinishReason.STOP, new StopReason.Token((int) 'x')));
  }

  @Test
  void stopsNowhereBeforeTheLeastTokens() {
    var conditions = new StopConditions(null, List.of("ab"), List.of((int) 'x'), 4, false);
    var assembler = assembler(conditions, false);

    assertThat(assembler.accept(item("abx")).text()).isEqualTo("abx");
    assertThat(assembler.accept(EngineOutput.ofTokens(EOS)).finish()).isNull();
    assertThat(assembler.accept(item("ab")))
        .isEqualTo(new TextDelta("", 2, FinishReason.STOP, new StopReason.Text("ab")));
  }

  @Test
  void ignoresEveryStopWithIgnoreEos() {
    var conditions = new StopConditions(null, List.of("ab"), List.of((int) 'x'), null, true);
    var assembler = assembler(conditions, false);

    assertThat(assembler.accept(item("abx")).text()).isEqualTo("abx");
    assertThat(assembler.accept(EngineOutput.ofTokens(EOS)).finish()).isNull();
  }

  /** Text and tokens as Dynamo 1.6.1 was seen to answer. */
  @ParameterizedTest
  @CsvSource({
    "xxxy,   x,   0, '',     1, STOP",
    "xxxy,   x,   1, x,      2, STOP",
    "xxxy,   x,   2, xx,     3, STOP",
    "xxxy,   x,   3, xxxy,   4, ",
    "xyxyxy, yx,  1, x,      3, STOP",
    "xyxyxy, yx,  2, xyx,    5, STOP",
    "xyxyxy, yx,  4, xyxyxy, 6, ",
    "xyxyxy, xyx, 0, '',     3, STOP",
    "xyxyxy, xyx, 2, xy,     5, STOP",
    "xyxyxy, xyx, 3, xyxyxy, 6, "
  })
  void noneOfTheLeastTokensIsPartOfAStop(
      String sample,
      String stop,
      int least,
      String text,
      int tokens,
      @Nullable FinishReason finish) {
    var conditions = new StopConditions(null, List.of(stop), List.of(), least, false);
    for (int size = 1; size <= sample.length(); size++) {
      var assembler = assembler(conditions, false);
      var said = new StringBuilder();
      int counted = 0;
      FinishReason end = null;
      for (int at = 0; at < sample.length(); at += size) {
        var part = sample.substring(at, Math.min(sample.length(), at + size));
        var delta = assembler.accept(item(part));
        said.append(delta.text());
        counted += delta.tokens();
        end = end == null ? delta.finish() : end;
      }
      said.append(assembler.accept(EngineOutput.finish(FinishReason.LENGTH, null)).text());
      assertThat(said.toString()).as("%d at a time", size).isEqualTo(text);
      assertThat(counted).as("%d at a time", size).isEqualTo(tokens);
      assertThat(end).as("%d at a time", size).isEqualTo(finish);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anIdEndsTheTextOnlyBehindTheLeastTokens(boolean endOfText) {
    int id = endOfText ? EOS : 'x';
    var stop = new StopConditions(null, List.of(), endOfText ? List.of() : List.of(id), 2, false);
    var assembler = assembler(stop, false);

    assertThat(assembler.accept(EngineOutput.ofTokens('a', id)).finish()).isNull();
    var last = assembler.accept(EngineOutput.ofTokens(id, 'b'));
    assertThat(last.finish()).isEqualTo(endOfText ? FinishReason.EOS : FinishReason.STOP);
    assertThat(last.tokens()).isEqualTo(1);
  }

  @Test
  void passesTextOfTheWorkerThrough() {
    var assembler = assembler(stops("END"), false);
    var output = new EngineOutput(new int[] {1, 2}, "the END", FinishReason.EOS, null, 0, null);

    assertThat(assembler.accept(output))
        .isEqualTo(new TextDelta("the END", 2, FinishReason.EOS, null));
  }

  @Test
  void anIncompleteCharacterEndsAsOneReplacement() {
    var assembler = assembler(stops(), false);

    assertThat(assembler.accept(EngineOutput.ofTokens(0xF0, 0x9F, 0x99)).text()).isEmpty();
    assertThat(assembler.accept(EngineOutput.finish(FinishReason.LENGTH, null)).text())
        .isEqualTo("\uFFFD");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "aé漢🙂b",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿👩‍👩‍👧",
        "\u0000\u07ff\u0800\uffff\ud800\udc00\udbff\udfff"
      })
  void everySplitPointGivesTheSameWholeCharacters(String sample) {
    var bytes = sample.getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut <= bytes.length; cut++) {
      var detokenizer = new IncrementalDetokenizer(BYTES, true);
      var text = new StringBuilder();
      for (int i = 0; i < cut; i++) {
        detokenizer.append(bytes[i] & 0xFF, text);
      }
      assertThat(sample).startsWith(text.toString());
      assertThat(text.toString()).doesNotContain("\uFFFD");
      for (int i = cut; i < bytes.length; i++) {
        detokenizer.append(bytes[i] & 0xFF, text);
      }
      detokenizer.finish(text);
      assertThat(text.toString()).isEqualTo(sample);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void howTheTextIsCutNeverMatters(long seed) {
    var random = new Random(seed);
    for (int round = 0; round < 400; round++) {
      var sample = word(random, 4 + random.nextInt(14));
      var conditions =
          stops(word(random, 1 + random.nextInt(4)), word(random, 1 + random.nextInt(4)));
      boolean include = random.nextBoolean();
      var whole = run(conditions, include, sample, sample.length());

      assertThat(whole).isEqualTo(oracle(conditions.stop(), include, sample));
      for (int size = 1; size < sample.length(); size++) {
        assertThat(run(conditions, include, sample, size))
            .as("%s of %s cut every %d", conditions.stop(), sample, size)
            .isEqualTo(whole);
      }
    }
  }

  private static Outcome run(StopConditions conditions, boolean include, String sample, int size) {
    var assembler = assembler(conditions, include);
    var text = new StringBuilder();
    FinishReason finish = null;
    String stop = null;
    for (int at = 0; at < sample.length() && finish == null; at += size) {
      var delta =
          assembler.accept(item(sample.substring(at, Math.min(sample.length(), at + size))));
      text.append(delta.text());
      finish = delta.finish();
      stop = delta.stop() instanceof StopReason.Text(var matched) ? matched : null;
    }
    text.append(assembler.accept(EngineOutput.finish(FinishReason.LENGTH, null)).text());
    return new Outcome(text.toString(), finish, stop);
  }

  /** The first prefix that ends with a stop, cut at the longest such stop. */
  private static Outcome oracle(List<String> stops, boolean include, String sample) {
    for (int end = 1; end <= sample.length(); end++) {
      String found = null;
      for (var stop : stops) {
        if (sample.substring(0, end).endsWith(stop)
            && (found == null || stop.length() > found.length())) {
          found = stop;
        }
      }
      if (found != null) {
        var text = sample.substring(0, include ? end : end - found.length());
        return new Outcome(text, FinishReason.STOP, found);
      }
    }
    return new Outcome(sample, null, null);
  }

  private static String word(Random random, int length) {
    return random
        .ints(length, 'a', 'c')
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  private static TextAssembler assembler(StopConditions conditions, boolean include) {
    return new TextAssembler(BYTES, conditions, new int[] {EOS}, include, true);
  }

  private static StopConditions stops(String... stops) {
    return new StopConditions(null, List.of(stops), List.of(), null, false);
  }

  private static EngineOutput item(String ascii) {
    return EngineOutput.ofTokens(ascii.chars().toArray());
  }
}
