package io.dynamo.wire.generate;

import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.Keys;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Encodes and decodes requests for embeddings in Dynamo's form. A vector travels as base64 of
 * little-endian floats. Stateless.
 */
public final class EmbeddingCodec implements MessageCodec<EmbeddingRequest, EmbeddingOutput> {
  /** The positions of the names in {@link #KEYS}. */
  private static final class RequestField {
    static final int TOKEN_IDS = 0;
    static final int MODEL = 1;
    static final int ENCODING_FORMAT = 2;
    static final int DIMENSIONS = 3;
    static final int TRUNCATE_PROMPT_TOKENS = 4;
    static final int MDC_SUM = 5;
    static final int ANNOTATIONS = 6;
    static final Keys KEYS =
        new Keys(
            Keys.entry(TOKEN_IDS, "token_ids"),
            Keys.entry(MODEL, "model"),
            Keys.entry(ENCODING_FORMAT, "encoding_format"),
            Keys.entry(DIMENSIONS, "dimensions"),
            Keys.entry(TRUNCATE_PROMPT_TOKENS, "truncate_prompt_tokens"),
            Keys.entry(MDC_SUM, "mdc_sum"),
            Keys.entry(ANNOTATIONS, "annotations"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class OutputField {
    static final int EMBEDDINGS = 0;
    static final int PROMPT_TOKENS = 1;
    static final int TOTAL_TOKENS = 2;
    static final Keys KEYS =
        new Keys(
            Keys.entry(EMBEDDINGS, "embeddings"),
            Keys.entry(PROMPT_TOKENS, "prompt_tokens"),
            Keys.entry(TOTAL_TOKENS, "total_tokens"));
  }

  private static final String BASE64 = "base64";
  private static final int ALWAYS = 3; // fields of every request

  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(EmbeddingRequest request, PayloadFormat format) {
    return WireWriter.write(request, format, EmbeddingCodec::write);
  }

  private static void write(WireWriter out, EmbeddingRequest request) throws IOException {
    int size = ALWAYS + (request.base64() ? 1 : 0) + (request.dimensions() == null ? 0 : 1);
    size += (request.truncatedTo() == null ? 0 : 1) + (request.cardChecksum() == null ? 0 : 1);
    out.beginMap(size);
    out.key("token_ids");
    out.beginArray(request.prompts().size());
    for (var prompt : request.prompts()) {
      out.ints(prompt);
    }
    out.endArray();
    out.key("model");
    out.string(request.model());
    if (request.base64()) {
      out.key("encoding_format");
      out.string(BASE64);
    }
    out.anyUnlessNull("dimensions", request.dimensions());
    out.anyUnlessNull("truncate_prompt_tokens", request.truncatedTo());
    out.anyUnlessNull("mdc_sum", request.cardChecksum());
    out.key("annotations");
    out.strings(request.annotations());
    out.endMap();
  }

  @Override
  public EmbeddingRequest decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("request", body, format, EmbeddingCodec::readRequest);
  }

  private static EmbeddingRequest readRequest(WireReader in) throws IOException {
    List<int[]> prompts = null;
    String model = null;
    boolean base64 = false;
    Integer dimensions = null;
    Integer truncated = null;
    String sum = null;
    List<String> annotations = List.of();
    in.beginMap();
    for (int key = in.nextKey(RequestField.KEYS);
        key != Keys.END;
        key = in.nextKey(RequestField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case RequestField.TOKEN_IDS -> prompts = prompts(in);
          case RequestField.MODEL -> model = in.string();
          case RequestField.ENCODING_FORMAT -> base64 = in.string().equals(BASE64);
          case RequestField.DIMENSIONS -> dimensions = in.smallInteger();
          case RequestField.TRUNCATE_PROMPT_TOKENS -> truncated = in.smallInteger();
          case RequestField.MDC_SUM -> sum = in.string();
          case RequestField.ANNOTATIONS -> annotations = in.strings();
          default -> in.skip();
        }
      }
    }
    if (prompts == null || model == null) {
      throw new IOException((prompts == null ? "token_ids" : "model") + " is missing");
    }
    return new EmbeddingRequest(model, prompts, base64, dimensions, truncated, sum, annotations);
  }

  private static List<int[]> prompts(WireReader in) throws IOException {
    var prompts = new ArrayList<int[]>();
    in.beginArray();
    while (in.nextElement()) {
      prompts.add(in.ints());
    }
    return prompts;
  }

  @Override
  public byte[] encodeItem(EmbeddingOutput item, PayloadFormat format) {
    return WireWriter.write(item, format, EmbeddingCodec::writeItem);
  }

  private static void writeItem(WireWriter out, EmbeddingOutput item) throws IOException {
    out.beginMap(OutputField.KEYS.size());
    out.key("embeddings");
    out.beginArray(item.vectors().size());
    for (var vector : item.vectors()) {
      out.string(base64(vector));
    }
    out.endArray();
    out.key("prompt_tokens");
    out.integer(item.promptTokens());
    out.key("total_tokens");
    out.integer(item.promptTokens());
    out.endMap();
  }

  /** A vector as base64 of little-endian floats. */
  public static String base64(float[] vector) {
    var bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(vector);
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  @Override
  public EmbeddingOutput decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("item", body, format, EmbeddingCodec::readItem);
  }

  private static EmbeddingOutput readItem(WireReader in) throws IOException {
    List<float[]> vectors = null;
    int tokens = 0;
    in.beginMap();
    for (int key = in.nextKey(OutputField.KEYS);
        key != Keys.END;
        key = in.nextKey(OutputField.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case OutputField.EMBEDDINGS -> vectors = vectors(in);
          case OutputField.PROMPT_TOKENS -> tokens = in.smallInteger();
          default -> in.skip();
        }
      }
    }
    if (vectors == null || tokens < 0) {
      throw new IOException(vectors == null ? "embeddings is missing" : "prompt_tokens below 0");
    }
    return new EmbeddingOutput(vectors, tokens);
  }

  private static List<float[]> vectors(WireReader in) throws IOException {
    var vectors = new ArrayList<float[]>();
    in.beginArray();
    while (in.nextElement()) {
      vectors.add(vector(in.string()));
    }
    return vectors;
  }

  /**
   * Reads a vector of base64 of little-endian floats.
   *
   * @throws IOException when it is none
   */
  public static float[] vector(String text) throws IOException {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new IOException("an embedding is no base64", e);
    }
    if (bytes.length % Float.BYTES != 0) {
      throw new IOException("an embedding has %d bytes, no whole floats".formatted(bytes.length));
    }
    var vector = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
    return vector;
  }
}
