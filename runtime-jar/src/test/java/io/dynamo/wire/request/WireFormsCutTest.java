package io.dynamo.wire.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Golden;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A part of a form that is read whole is never taken for one: all bytes are read or refused with
 * the codec's own exception.
 */
class WireFormsCutTest {
  /** A form with captured bytes of it. */
  record Form(String name, List<byte[]> captured, Function<byte[], Object> reader) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Arguments> forms() {
    var names =
        List.of(
            "chat-stream",
            "completions",
            "disagg-prefill",
            "embeddings",
            "frontend-json-codec",
            "generate-json",
            "traceparent",
            "with-metadata");
    return Stream.of(
            new Form(
                "control message",
                names.stream().map(name -> Golden.request(name).payload().header()).toList(),
                bytes -> ControlMessage.ofJson(ByteBuffer.wrap(bytes))),
            new Form(
                "prologue",
                List.of(
                    Golden.frames("prologue-error.w2f.bin").get(1).header(),
                    Golden.frames("chat-stream.w2f.bin").get(1).header()),
                Prologue::ofJson),
            new Form(
                "envelope in msgpack",
                bodies(
                    "chat-stream.w2f.bin",
                    "annotated-items.w2f.bin",
                    "chat-error-unary.w2f.bin",
                    "python-bytes-nan-msgpack.w2f.bin"),
                bytes -> ResponseEnvelope.read(ByteBuffer.wrap(bytes), PayloadFormat.MSGPACK)),
            new Form(
                "envelope in json",
                bodies(
                    "frontend-json-codec.w2f.bin",
                    "generate-json.w2f.bin",
                    "python-bytes-nan-json.w2f.bin"),
                bytes -> ResponseEnvelope.read(ByteBuffer.wrap(bytes), PayloadFormat.JSON)))
        .map(Arguments::of);
  }

  private static List<byte[]> bodies(String... names) {
    return Stream.of(names).flatMap(name -> Golden.bodies(name).stream()).toList();
  }

  @ParameterizedTest
  @MethodSource("forms")
  void aPartIsNeverTakenForTheWhole(Form form) {
    for (var whole : form.captured()) {
      assertThat(form.reader().apply(whole)).isNotNull();
      for (int cut = 0; cut < whole.length; cut++) {
        var part = Arrays.copyOf(whole, cut);
        assertThatThrownBy(() -> form.reader().apply(part))
            .as("the first %d of %d bytes", cut, whole.length)
            .isInstanceOf(InvalidRequestException.class);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("forms")
  void changedBytesAreReadOrRefused(Form form) {
    var random = new Random(42);
    for (var whole : form.captured()) {
      for (int i = 0; i < 1_000; i++) {
        var changed = whole.clone();
        for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
          changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        try {
          assertThat(form.reader().apply(changed)).isNotNull();
        } catch (InvalidRequestException refused) {
          assertThat(refused).hasMessageNotContaining("Exception");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat-stream", "traceparent", "with-metadata"})
  void headersCutAnywhereAreNoHeaders(String name) {
    var whole = Golden.request(name).headers();
    for (int cut = 0; cut < whole.length; cut++) {
      assertThat(RequestHeaders.ofJson(Arrays.copyOf(whole, cut)))
          .isEqualTo(new RequestHeaders(Map.of(), 0));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat-stream", "with-metadata"})
  void aHomeIsReadFromAControlMessageOrNotAtAll(String name) {
    var whole = Golden.request(name).payload().header();
    var home = ControlMessage.ofJson(ByteBuffer.wrap(whole)).connection();
    assertThat(ControlMessage.homeOf(ByteBuffer.wrap(whole))).isEqualTo(home);
    for (int cut = 0; cut < whole.length; cut++) {
      assertThat(ControlMessage.homeOf(ByteBuffer.wrap(whole, 0, cut))).isNull();
    }
    var foreign = new String(whole, StandardCharsets.UTF_8).replaceFirst("\"id\":\"", "$0other");
    assertThat(ControlMessage.homeOf(ByteBuffer.wrap(foreign.getBytes(StandardCharsets.UTF_8))))
        .isEqualTo(home);
  }
}
