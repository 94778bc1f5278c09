package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MultipartReaderTest {
  private static final String TYPE = "multipart/form-data; boundary=b";

  private static String part(String name, String content) {
    return "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
        .formatted(name, content);
  }

  /** A stream that gives a few bytes at once. */
  private static InputStream slow(byte[] bytes, int most) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] into, int at, int length) {
        return super.read(into, at, Math.min(most, length));
      }
    };
  }

  private static List<String> read(String type, InputStream in) throws IOException {
    var reader = MultipartReader.open(type, in);
    var found = new ArrayList<String>();
    for (var part = reader.next(); part != null; part = reader.next()) {
      var content = new ByteArrayOutputStream();
      var some = new byte[5];
      for (int count = reader.read(some); count >= 0; count = reader.read(some)) {
        content.write(some, 0, count);
      }
      found.add(
          part.name() + "/" + part.file() + "=" + content.toString(StandardCharsets.ISO_8859_1));
    }
    return found;
  }

  private static List<String> read(String body) throws IOException {
    return read(TYPE, slow(body.getBytes(StandardCharsets.ISO_8859_1), 7));
  }

  @Test
  void partsAreReadInOrderWithEveryByte() throws IOException {
    var body =
        part("purpose", "batch")
            + "--b\r\ncontent-type: x/y\r\ncontent-disposition: form-data; name=file;"
            + " filename=\"a b.jsonl\"\r\n\r\n{\"a\":1}\r\n--\r\n--a\r\n\r\n"
            + part("empty", "")
            + "--b--\r\n";

    assertThat(read(body))
        .containsExactly(
            "purpose/null=batch", "file/a b.jsonl={\"a\":1}\r\n--\r\n--a\r\n", "empty/null=");
  }

  @Test
  void contentOfAnyLengthIsReadWhereverTheReadsEnd() throws IOException {
    var random = new Random(3);
    for (int length : new int[] {1, 31, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 100_000}) {
      var content = new byte[length];
      random.nextBytes(content);
      var text = new String(content, StandardCharsets.ISO_8859_1);
      var bytes = (part("x", text) + "--b--").getBytes(StandardCharsets.ISO_8859_1);
      for (int most : new int[] {3, 8192, 1 << 20}) {
        assertThat(read(TYPE, slow(bytes, most))).containsExactly("x/null=" + text);
      }
    }
  }

  @Test
  void textBeforeTheFirstPartAndUnreadPartsAreSkipped() throws IOException {
    var body = "hello\r\n" + part("a", "1") + part("b", "2") + "--b--";
    var reader =
        MultipartReader.open(
            "Multipart/Form-Data; charset=x; boundary=\"b\"",
            slow(body.getBytes(StandardCharsets.ISO_8859_1), 4));

    assertThat(reader.next()).isEqualTo(new MultipartReader.Part("a", null));
    assertThat(reader.next()).isEqualTo(new MultipartReader.Part("b", null));
    assertThat(reader.next()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--b",
        "--b\r\n",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno end",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n",
        "--bx\r\n\r\n--b--",
        "--b\r\n\r\nno name\r\n--b--",
        "no parts",
      })
  void brokenFormIsRefused(String body) {
    assertThatThrownBy(() -> read(body))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(400));
  }

  @Test
  void headsAndPartsAreBounded() {
    assertThatThrownBy(() -> read("--b\r\nX: " + "y".repeat(9000) + "\r\n\r\n\r\n--b--"))
        .hasMessageContaining("8192");
    assertThatThrownBy(() -> read(part("a", "1").repeat(17) + "--b--"))
        .hasMessageContaining("more than 16 parts");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "application/json", "multipart/form-data", "multipart/mixed; boundary=b"})
  void otherTypesAreRefused(String type) {
    assertThatThrownBy(() -> MultipartReader.open(type, InputStream.nullInputStream()))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(415));
  }
}
