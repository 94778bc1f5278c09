package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.sse.ByteText;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A checked request for the tokens of a text or a conversation, in vLLM's form.
 *
 * @param text null when a conversation is given
 * @param chat null when a text is given
 * @param strings whether the answer has each token's text, too
 */
public record TokenizeRequest(
    GenerationFields fields, @Nullable String text, @Nullable ChatRequest chat, boolean strings) {
  private static final Set<String> OF_BOTH =
      Set.of("model", "add_special_tokens", "return_token_strs");
  private static final Set<String> OF_TEXTS = Set.of("prompt");
  private static final Set<String> OF_CHATS =
      Set.of(
          "messages",
          "tools",
          "add_generation_prompt",
          "continue_final_message",
          "chat_template_kwargs");

  /** The top-level fields of the API. */
  public static Set<String> names() {
    var names = new TreeSet<>(OF_BOTH);
    names.addAll(OF_TEXTS);
    names.addAll(OF_CHATS);
    return names;
  }

  /** Whether a top-level field is one of the API's. */
  public static boolean knows(String field) {
    return OF_BOTH.contains(field) || OF_TEXTS.contains(field) || OF_CHATS.contains(field);
  }

  /**
   * Reads and checks.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static TokenizeRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    boolean strings = fields.bool("return_token_strs");
    if (fields.bool("add_special_tokens")) {
      throw GenerationReader.refusePlainly(
          "add_special_tokens",
          "special tokens are never added here, as before a generation; write them in the text");
    }
    boolean chat = fields.get("messages") != null;
    if (chat && fields.get("prompt") != null) {
      throw GenerationReader.refusePlainly(
          "prompt", "give either `prompt` or `messages`, not both");
    }
    refuseUnknown(body, chat ? OF_CHATS : OF_TEXTS);
    if (chat) {
      var own = ((ObjectNode) body).deepCopy();
      own.remove("add_special_tokens");
      own.remove("return_token_strs");
      var read = ChatRequestReader.read(own);
      return new TokenizeRequest(read.fields(), null, read, strings);
    }
    var text = fields.requireString("prompt");
    return new TokenizeRequest(ofModel(fields), text, null, strings);
  }

  private static void refuseUnknown(JsonNode body, Set<String> own) {
    for (var field : body.properties()) {
      if (!OF_BOTH.contains(field.getKey()) && !own.contains(field.getKey())) {
        throw GenerationReader.refusePlainly(
            JsonFields.clipped(field.getKey()),
            "Unsupported parameter(s): `" + JsonFields.clipped(field.getKey()) + "`");
      }
    }
  }

  /** The fields of a request that generates nothing. */
  static GenerationFields ofModel(JsonFields fields) {
    var translation = new NativeRequest.Translation();
    translation.put("model", fields.require("model"));
    return translation.fields();
  }

  /**
   * The answer, as UTF-8 JSON.
   *
   * @param contextTokens the longest prompt with its answer; 0 when unknown
   * @param texts of tokens
   */
  public byte[] answer(int[] tokens, int contextTokens, LogprobsText.Tokens.Bytes texts) {
    var json = new ByteText(64 + 8 * tokens.length).ascii("{\"count\":").number(tokens.length);
    json.ascii(",\"max_model_len\":");
    if (contextTokens > 0) {
      json.number(contextTokens);
    } else {
      json.ascii("null");
    }
    json.ascii(",\"tokens\":[");
    for (int i = 0; i < tokens.length; i++) {
      json.ascii(i == 0 ? "" : ",").number(Integer.toUnsignedLong(tokens[i]));
    }
    json.ascii("],\"token_strs\":");
    if (strings) {
      var names = new LogprobsText.Tokens(texts, false);
      json.ascii("[");
      for (int i = 0; i < tokens.length; i++) {
        json.ascii(i == 0 ? "" : ",").quoted(names.text(tokens[i]));
      }
      json.ascii("]}");
    } else {
      json.ascii("null}");
    }
    return json.toByteArray();
  }
}
