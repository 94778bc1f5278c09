package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The members are those that a worker of Dynamo 1.6.1 published. */
class CardMediaTest {
  private static final String DECODER =
      """
      {"image":{"limits":{"max_image_width":4096,"max_image_height":4096,"max_alloc":16777216}}}\
      """;
  private static final String FETCHER =
      """
      {"user_agent":"dynamo-ai/dynamo","allow_direct_ip":true,"allow_direct_port":true,\
      "allow_private_ips":false,"allowed_media_domains":null,"timeout":{"secs":5,"nanos":0}}\
      """;

  private static ModelCard card(String decoder, String fetcher) {
    return ModelCardJson.fromJson(
        Json.readObject(
            """
            {"display_name":"m","slug":"m","kv_cache_block_size":16,"migration_limit":0,
             "model_type":"Chat","model_input":"Tokens","needs":[],
             "media_decoder":%s,"media_fetcher":%s}\
            """
                .formatted(decoder, fetcher)
                .getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void rulesOfACardAreReadAndWritten() {
    var card = card(DECODER, FETCHER);

    assertThat(card.media().decodes("image")).isTrue();
    assertThat(card.media().decodes("video")).isFalse();
    assertThat(card.media().limit("image", "max_alloc")).isEqualTo(16_777_216L);
    assertThat(card.media().limit("image", "max_frames")).isNull();
    assertThat(card.media().fetcher()).containsEntry("allow_direct_ip", true);
    var json = ModelCardJson.toJson(card);
    assertThat(new String(Json.write(json), StandardCharsets.UTF_8))
        .contains("\"media_decoder\":" + DECODER, "\"media_fetcher\":" + FETCHER);
  }

  @Test
  void otherCardsOfTheSameModelKeepIt() {
    var card = card(DECODER, FETCHER);

    for (var other :
        List.of(
            card.withAliases(List.of("a")),
            card.withTaints(List.of("t")),
            card.of(LoraAdapter.of("adapter", 1)),
            card.withFiles(file -> file))) {
      assertThat(other.media()).isEqualTo(card.media());
    }
  }

  @Test
  void aCardThatAsksForNothingSaysSo() {
    var card = card("null", "null");

    assertThat(card.media()).isEqualTo(CardMedia.NONE);
    assertThat(ModelCardJson.toJson(card))
        .containsEntry("media_decoder", null)
        .containsEntry("media_fetcher", null);
  }
}
