package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Logprobs;
import java.util.List;

/** A list with an object for each token. */
final class ChatLogprobs extends LogprobsText {
  private final ByteText entries = new ByteText(256);

  ChatLogprobs(Tokens tokens, int alternatives) {
    super(tokens, alternatives);
  }

  @Override
  void add(int id, double logprob, List<Logprobs.Top> top) {
    if (entries.size() > 0) {
      entries.ascii(",");
    }
    entries.ascii("{\"token\":").quoted(tokens.text(id));
    entries.ascii(",\"logprob\":");
    number(entries, logprob);
    entries.ascii(",\"token_id\":").number(Integer.toUnsignedLong(id));
    bytes(entries.ascii(",\"bytes\":"), tokens.raw(id));
    entries.ascii(",\"top_logprobs\":[");
    boolean first = true;
    for (int i = 0; i < Math.min(alternatives, top.size()); i++) {
      alternative(top.get(i).tokenId(), top.get(i).logprob(), first);
      first = false;
    }
    if (!has(top, id)) {
      alternative(id, logprob, first);
    }
    entries.ascii("]}");
  }

  private void alternative(int id, double logprob, boolean first) {
    entries.ascii(first ? "{\"token\":" : ",{\"token\":").quoted(tokens.text(id));
    entries.ascii(",\"logprob\":");
    number(entries, logprob);
    bytes(entries.ascii(",\"bytes\":"), tokens.raw(id));
    entries.ascii("}");
  }

  private static void bytes(ByteText json, byte[] raw) {
    json.ascii("[");
    for (int i = 0; i < raw.length; i++) {
      if (i > 0) {
        json.ascii(",");
      }
      json.number(raw[i] & 0xFF);
    }
    json.ascii("]");
  }

  @Override
  public boolean isEmpty() {
    return entries.size() == 0;
  }

  @Override
  void appendTo(ByteText json) {
    json.ascii("{\"content\":[").append(entries).ascii("],\"refusal\":null}");
  }

  @Override
  public void clear() {
    entries.clear();
  }
}
