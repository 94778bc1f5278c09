package io.dynamo.token;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The numbers are those that Dynamo 1.6.1 sent for these URLs. */
class MediaHasherTest {
  @Test
  void urlsHaveTheHashesOfDynamo() {
    assertThat(MediaHasher.ofUrl("http://127.0.0.1:18199/red.png")).isEqualTo(0x143ab526cc166b91L);
    assertThat(MediaHasher.ofUrl("http://127.0.0.1:18199/blue.png")).isEqualTo(0x6ca6cc87fc4b0f5dL);
    assertThat(MediaHasher.ofUrl("http://127.0.0.1:18199/")).isEqualTo(0xfc10e7d42f602a05L);
  }

  @Test
  void imagesHaveTheTokensOfDynamo() {
    assertThat(MediaPads.of(0x143ab526cc166b91L)).isEqualTo(203_795_921);
    assertThat(MediaPads.of(0x6ca6cc87fc4b0f5dL)).isEqualTo(1_012_552_093);
    assertThat(MediaPads.of(0xfc10e7d42f602a05L)).isEqualTo(795_831_365);
    assertThat(MediaPads.of(-1)).isEqualTo(1_000_000 + (1 << 30) - 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8191, 8192, 8193, 16_384, 100_000})
  void longUrlsAreHashedAsOne(int length) {
    for (var letter : new String[] {"a", "\u00e9", "\ud83d\ude00"}) {
      var url = letter.repeat(length);
      assertThat(MediaHasher.ofUrl(url))
          .isEqualTo(MediaHasher.of(url.getBytes(StandardCharsets.UTF_8)));
    }
  }
}
