package io.dynamo.frontend.media;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataUrlTest {
  private static final int MOST = 1 << 20;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data:image/png;base64,aGk=|image/png|hi",
        "DATA:IMAGE/PNG;BASE64,aGk=|image/png|hi",
        "data:audio/wav;codecs=1;base64,aGk=|audio/wav|hi",
        "data:;base64,aGk=|text/plain|hi",
        "data:,h%69|text/plain|hi",
        "data:text/plain;charset=utf-8,hi|text/plain|hi"
      })
  void wellFormedUrlsAreDecoded(String url, String type, String text) throws Exception {
    var data = DataUrl.parse(url);

    assertThat(data.type()).isEqualTo(type);
    assertThat(data.decode(MOST)).asString(UTF_8).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data:image/png;base64",
        "data:image;base64,aGk=",
        "data:image/png\r\nx: y;base64,aGk=",
        "data:image/png;base64,@@@@",
        "data:image/png;base64,a\u00e9==",
        "data:text/plain,%zz",
        "data:text/plain,a b",
        "http://example.com/"
      })
  void malformedUrlsAreRefused(String url) {
    assertThatExceptionOfType(MediaException.class)
        .isThrownBy(() -> DataUrl.parse(url).decode(MOST))
        .satisfies(e -> assertThat(e.reason()).isEqualTo(MediaException.Reason.WRONG_TYPE));
  }

  @Test
  void headsAreBounded() {
    var url = "data:image/png;" + "x=y;".repeat(1000) + "base64,aGk=";

    assertThatExceptionOfType(MediaException.class).isThrownBy(() -> DataUrl.parse(url));
  }

  @Test
  void longDataAreRefusedBeforeTheyAreDecoded() {
    var url = "data:image/png;base64," + "@".repeat(4096); // no base64, which goes unnoticed

    assertThatExceptionOfType(MediaException.class)
        .isThrownBy(() -> DataUrl.parse(url).decode(1024))
        .satisfies(e -> assertThat(e.reason()).isEqualTo(MediaException.Reason.TOO_LARGE));
  }

  @Test
  void dataOfExactlyTheBoundAreDecoded() throws Exception {
    for (int size = 1020; size <= 1024; size++) {
      var bytes = new byte[size];
      assertThat(DataUrl.parse(DataUrl.write("image/png", bytes)).decode(1024)).hasSize(size);
    }
  }

  @Test
  void headsOfDataAreThoseOfTheWhole() throws Exception {
    var bytes = new byte[5000];
    new Random(1).nextBytes(bytes);
    var data = DataUrl.parse(DataUrl.write("image/png", bytes));

    assertThat(data.decodeHead(1000)).hasSizeGreaterThanOrEqualTo(1000);
    assertThat(data.decodeHead(1000)).startsWith(Arrays.copyOf(bytes, 1000));
    assertThat(data.decodeHead(10_000)).isEqualTo(bytes);
  }

  @Test
  void theLengthOfAUrlIsKnownBeforeItIsWritten() {
    for (int size = 0; size < 10; size++) {
      assertThat(DataUrl.lengthOf("image/png", size))
          .isEqualTo(DataUrl.write("image/png", new byte[size]).length());
    }
    assertThat(Base64.getEncoder().encodeToString(new byte[1])).hasSize(4);
  }
}
