package io.dynamo.wire.generate;

import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.util.List;

/**
 * {@code sampling_options}: 1.6.1 writes every field, null where nothing is asked, but in {@code
 * guided_decoding} only what is asked.
 */
final class SamplingShape {
  private static final Keys FIELDS =
      new Keys(
          "n",
          "best_of",
          "presence_penalty",
          "frequency_penalty",
          "repetition_penalty",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "use_beam_search",
          "length_penalty",
          "seed",
          "include_stop_str_in_output",
          "guided_decoding");
  private static final Keys GUIDED =
      new Keys(
          "json", "regex", "choice", "grammar", "backend", "whitespace_pattern", "structural_tag");

  private SamplingShape() {}

  static void write(WireWriter out, SamplingOptions sampling) throws IOException {
    var others = sampling.passedOn();
    out.beginMap(FIELDS.size());
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
      out.anyUnlessNull(GUIDED.name(i), values[i]);
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
    for (int key = in.nextKey(FIELDS); key != Keys.END; key = in.nextKey(FIELDS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> n = in.smallInteger();
          case 2 -> presence = (float) in.number();
          case 3 -> frequency = (float) in.number();
          case 4 -> repetition = (float) in.number();
          case 5 -> temperature = (float) in.number();
          case 6 -> topP = (float) in.number();
          case 7 -> topK = in.smallInteger();
          case 8 -> minP = (float) in.number();
          case 11 -> seed = in.integer();
          case 12 -> includeStop = in.bool();
          case 13 -> guided = readGuided(in);
          default -> others.take(FIELDS.name(key), in);
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
    for (int key = in.nextKey(GUIDED); key != Keys.END; key = in.nextKey(GUIDED)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case 0 -> json = in.any();
          case 1 -> regex = in.string();
          case 2 -> choice = in.strings();
          case 3 -> grammar = in.string();
          case 4 -> backend = in.string();
          case 5 -> whitespace = in.string();
          default -> tag = in.any();
        }
      }
    }
    return new GuidedDecoding(json, regex, choice, grammar, backend, whitespace, tag);
  }
}
