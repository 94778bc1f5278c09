package io.dynamo.wire.generate;

import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.List;

/**
 * Reads and writes {@code sampling_options}: 1.6.1 writes every field, null where not set, but in
 * {@code guided_decoding} only the fields that are set.
 */
final class SamplingShape {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int N = 0;
    static final int BEST_OF = 1;
    static final int PRESENCE_PENALTY = 2;
    static final int FREQUENCY_PENALTY = 3;
    static final int REPETITION_PENALTY = 4;
    static final int TEMPERATURE = 5;
    static final int TOP_P = 6;
    static final int TOP_K = 7;
    static final int MIN_P = 8;
    static final int USE_BEAM_SEARCH = 9;
    static final int LENGTH_PENALTY = 10;
    static final int SEED = 11;
    static final int INCLUDE_STOP_STR_IN_OUTPUT = 12;
    static final int GUIDED_DECODING = 13;
    static final Keys KEYS =
        new Keys(
            Keys.entry(N, "n"),
            Keys.entry(BEST_OF, "best_of"),
            Keys.entry(PRESENCE_PENALTY, "presence_penalty"),
            Keys.entry(FREQUENCY_PENALTY, "frequency_penalty"),
            Keys.entry(REPETITION_PENALTY, "repetition_penalty"),
            Keys.entry(TEMPERATURE, "temperature"),
            Keys.entry(TOP_P, "top_p"),
            Keys.entry(TOP_K, "top_k"),
            Keys.entry(MIN_P, "min_p"),
            Keys.entry(USE_BEAM_SEARCH, "use_beam_search"),
            Keys.entry(LENGTH_PENALTY, "length_penalty"),
            Keys.entry(SEED, "seed"),
            Keys.entry(INCLUDE_STOP_STR_IN_OUTPUT, "include_stop_str_in_output"),
            Keys.entry(GUIDED_DECODING, "guided_decoding"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class GuidedField {
    static final int JSON = 0;
    static final int REGEX = 1;
    static final int CHOICE = 2;
    static final int GRAMMAR = 3;
    static final int BACKEND = 4;
    static final int WHITESPACE_PATTERN = 5;
    static final int STRUCTURAL_TAG = 6;
    static final Keys KEYS =
        new Keys(
            Keys.entry(JSON, "json"),
            Keys.entry(REGEX, "regex"),
            Keys.entry(CHOICE, "choice"),
            Keys.entry(GRAMMAR, "grammar"),
            Keys.entry(BACKEND, "backend"),
            Keys.entry(WHITESPACE_PATTERN, "whitespace_pattern"),
            Keys.entry(STRUCTURAL_TAG, "structural_tag"));
  }

  private SamplingShape() {}

  static void write(WireWriter out, SamplingOptions sampling) throws IOException {
    var others = sampling.passedOn();
    out.beginMap(Field.KEYS.size());
    out.integerOrNil("n", sampling.n());
    out.anyOrNil("best_of", others.get("best_of"));
    out.float32OrNil("presence_penalty", sampling.presencePenalty());
    out.float32OrNil("frequency_penalty", sampling.frequencyPenalty());
    out.float32OrNil("repetition_penalty", sampling.repetitionPenalty());
    out.float32OrNil("temperature", sampling.temperature());
    out.float32OrNil("top_p", sampling.topP());
    out.integerOrNil("top_k", sampling.topK());
    out.float32OrNil("min_p", sampling.minP());
    out.anyOrNil("use_beam_search", others.get("use_beam_search"));
    out.anyOrNil("length_penalty", others.get("length_penalty"));
    out.integerOrNil("seed", sampling.seed());
    out.boolOrNil("include_stop_str_in_output", sampling.includeStop());
    out.key("guided_decoding");
    if (sampling.guided() == null) {
      out.nil();
    } else {
      write(out, sampling.guided());
    }
    out.endMap();
  }

  private static void write(WireWriter out, GuidedDecoding guided) throws IOException {
    var choice = guided.choice().isEmpty() ? null : guided.choice();
    Object[] values = {
      guided.json(),
      guided.regex(),
      choice,
      guided.grammar(),
      guided.backend(),
      guided.whitespacePattern(),
      guided.structuralTag()
    };
    int count = 0;
    for (var value : values) {
      count += value == null ? 0 : 1;
    }
    out.beginMap(count);
    for (int i = 0; i < values.length; i++) {
      out.anyUnlessNull(GuidedField.KEYS.name(i), values[i]);
    }
    out.endMap();
  }

  static SamplingOptions read(WireReader in) throws IOException {
    Integer n = null;
    Float presence = null;
    Float frequency = null;
    Float repetition = null;
    Float temperature = null;
    Float topP = null;
    Integer topK = null;
    Float minP = null;
    Long seed = null;
    Boolean includeStop = null;
    GuidedDecoding guided = null;
    var others = new Passing();
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.N -> n = in.smallInteger();
          case Field.PRESENCE_PENALTY -> presence = (float) in.number();
          case Field.FREQUENCY_PENALTY -> frequency = (float) in.number();
          case Field.REPETITION_PENALTY -> repetition = (float) in.number();
          case Field.TEMPERATURE -> temperature = (float) in.number();
          case Field.TOP_P -> topP = (float) in.number();
          case Field.TOP_K -> topK = in.smallInteger();
          case Field.MIN_P -> minP = (float) in.number();
          case Field.SEED -> seed = in.integer();
          case Field.INCLUDE_STOP_STR_IN_OUTPUT -> includeStop = in.bool();
          case Field.GUIDED_DECODING -> guided = readGuided(in);
          default -> others.take(Field.KEYS.name(key), in);
        }
      }
    }
    return new SamplingOptions(
        n,
        temperature,
        topP,
        topK,
        minP,
        frequency,
        presence,
        repetition,
        seed,
        includeStop,
        guided,
        others.taken());
  }

  private static GuidedDecoding readGuided(WireReader in) throws IOException {
    Object json = null;
    String regex = null;
    List<String> choice = List.of();
    String grammar = null;
    String backend = null;
    String whitespace = null;
    Object tag = null;
    in.beginMap();
    for (int key = in.nextKey(GuidedField.KEYS);
        key != Keys.END;
        key = in.nextKey(GuidedField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case GuidedField.JSON -> json = in.any();
          case GuidedField.REGEX -> regex = in.string();
          case GuidedField.CHOICE -> choice = in.strings();
          case GuidedField.GRAMMAR -> grammar = in.string();
          case GuidedField.BACKEND -> backend = in.string();
          case GuidedField.WHITESPACE_PATTERN -> whitespace = in.string();
          case GuidedField.STRUCTURAL_TAG -> tag = in.any();
          default -> throw new IllegalStateException("key " + key);
        }
      }
    }
    return new GuidedDecoding(json, regex, choice, grammar, backend, whitespace, tag);
  }
}
