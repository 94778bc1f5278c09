package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Logprobs;
import java.util.ArrayList;
import java.util.List;

/** Four lists with an entry for each token. Places in the text count characters, not bytes. */
final class CompletionLogprobs extends LogprobsText {
  private final ByteText texts = new ByteText(128);
  private final ByteText values = new ByteText(128);
  private final ByteText tops = new ByteText(256);
  private final ByteText offsets = new ByteText(64);
  private final List<String> named = new ArrayList<>(); // keys of the current object
  private int offset;

  CompletionLogprobs(Tokens tokens, int alternatives, int textOffset) {
    super(tokens, alternatives);
    this.offset = textOffset;
  }

  @Override
  void add(int id, double logprob, List<Logprobs.Top> top) {
    if (texts.size() > 0) {
      texts.ascii(",");
      values.ascii(",");
      tops.ascii(",");
      offsets.ascii(",");
    }
    texts.quoted(tokens.text(id));
    number(values, logprob);
    offsets.number(offset);
    offset += tokens.characters(id);
    tops.ascii("{");
    named.clear();
    for (int i = 0; i < Math.min(alternatives, top.size()); i++) {
      alternative(top.get(i).tokenId(), top.get(i).logprob());
    }
    if (!has(top, id)) {
      alternative(id, logprob);
    }
    tops.ascii("}");
  }

  /** Two tokens may have the same text; an object has each key once, the likelier stays. */
  private void alternative(int id, double logprob) {
    var text = tokens.text(id);
    if (named.contains(text)) {
      return;
    }
    if (!named.isEmpty()) {
      tops.ascii(",");
    }
    named.add(text);
    tops.quoted(text).ascii(":");
    number(tops, logprob);
  }

  @Override
  public boolean isEmpty() {
    return texts.size() == 0;
  }

  @Override
  void appendTo(ByteText json) {
    json.ascii("{\"tokens\":[").append(texts).ascii("],\"token_logprobs\":[").append(values);
    json.ascii("],\"top_logprobs\":[").append(tops).ascii("],\"text_offset\":[").append(offsets);
    json.ascii("]}");
  }

  @Override
  public void clear() {
    texts.clear();
    values.clear();
    tops.clear();
    offsets.clear();
  }
}
