package io.dynamo.discovery.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against CPython, whose {@code hash} of bytes is SipHash-1-3, with {@code PYTHONHASHSEED=0}. */
class ObjectIdTest {
  @ParameterizedTest
  @CsvSource({
    "'', 121655548788207",
    "worker-0, 1186445869714687",
    "vllm-agg-decode-7d9f8b6c5d-x2x4k, 9006335919557078",
    "tiny-0-engine, 3080579089989704"
  })
  void idsAreHashesOfNames(String name, long id) {
    assertThat(ObjectId.of(name)).isEqualTo(new InstanceId(id));
  }

  @Test
  void wholeWordsAreHashed() {
    assertThat(ObjectId.sipHash13("abcdefgh".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(0x3f7b849c0b8e35eaL);
  }
}
