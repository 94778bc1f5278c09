package io.dynamo.wire.generate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Embeddings on the wire, as captured from Dynamo's frontend and its workers. */
class EmbeddingCodecTest {
  private final EmbeddingCodec codec = new EmbeddingCodec();

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static ByteBuffer json(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void requestsAreThoseOfDynamo() {
    var plain =
        new EmbeddingRequest(
            "emb",
            List.of(new int[] {282, 80}, new int[] {5846}),
            false,
            null,
            null,
            "de7f",
            List.of());
    assertThat(text(codec.encodeRequest(plain, PayloadFormat.JSON)))
        .isEqualTo(
            "{\"token_ids\":[[282,80],[5846]],\"model\":\"emb\",\"mdc_sum\":\"de7f\","
                + "\"annotations\":[]}");
    var full =
        new EmbeddingRequest(
            "emb", List.of(new int[] {1}), true, 2, 1, "de7f", List.of("request_id"));
    assertThat(text(codec.encodeRequest(full, PayloadFormat.JSON)))
        .isEqualTo(
            "{\"token_ids\":[[1]],\"model\":\"emb\",\"encoding_format\":\"base64\","
                + "\"dimensions\":2,\"truncate_prompt_tokens\":1,\"mdc_sum\":\"de7f\","
                + "\"annotations\":[\"request_id\"]}");
  }

  @ParameterizedTest
  @EnumSource
  void requestsAndItemsSurviveTheWire(PayloadFormat format) {
    var request =
        new EmbeddingRequest(
            "emb", List.of(new int[] {1, 2}, new int[] {3}), true, 2, 4, "s", List.of("a"));
    var read = codec.decodeRequest(ByteBuffer.wrap(codec.encodeRequest(request, format)), format);
    assertThat(read).usingRecursiveComparison().isEqualTo(request);

    var output = new EmbeddingOutput(List.of(new float[] {0.1f, -2f}, new float[] {3f, 4f}), 3);
    var back = codec.decodeItem(ByteBuffer.wrap(codec.encodeItem(output, format)), format);
    assertThat(back).usingRecursiveComparison().isEqualTo(output);
  }

  @Test
  void vectorsAreBase64OfLittleEndianFloats() {
    var item =
        codec.decodeItem(
            json("{\"embeddings\":[\"zczMPc3MTD6amZk+zczMPg==\"],\"prompt_tokens\":3,\"x\":1}"),
            PayloadFormat.JSON);

    assertThat(item.vectors()).hasSize(1);
    assertThat(item.vectors().getFirst()).containsExactly(0.1f, 0.2f, 0.3f, 0.4f);
    assertThat(EmbeddingCodec.base64(item.vectors().getFirst()))
        .isEqualTo("zczMPc3MTD6amZk+zczMPg==");
  }

  @Test
  void brokenItemsAreRefused() {
    for (var item :
        List.of(
            "{}",
            "{\"embeddings\":[[0.1]]}",
            "{\"embeddings\":[\"?\"]}",
            "{\"embeddings\":[\"AAA=\"]}",
            "{\"embeddings\":[],\"prompt_tokens\":-1}")) {
      assertThatThrownBy(() -> codec.decodeItem(json(item), PayloadFormat.JSON))
          .as(item)
          .isInstanceOf(InvalidRequestException.class);
    }
  }
}
