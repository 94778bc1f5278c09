package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.event.CapturedEvent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventFramesTest {
  private static final String TOPIC = "kv-events";
  private static final long PUBLISHER = 12345;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kv-events-stored-root",
        "kv-events-stored-child",
        "kv-events-removed",
        "kv-events-batch-removed-stored",
        "broker-kv-events",
        "kv_metrics",
        "forward-pass-metrics-idle",
        "forward-pass-metrics-prefill",
        "forward-pass-metrics-decode",
        "active_sequences-AddRequest-router",
        "active_sequences-MarkPrefillCompleted-router",
        "active_sequences-MarkPrefillCompleted-worker",
        "active_sequences-Free-router",
        "active_sequences-batch-router",
        "session_affinity"
      })
  void capturedEventsSurviveARoundTrip(String capture) throws IOException {
    var frames = CapturedEvent.frames(capture).toArray(byte[][]::new);
    long publisher = ByteBuffer.wrap(frames[1]).getLong();
    var first = new String(frames[0], StandardCharsets.US_ASCII);
    var topic = first.substring(first.lastIndexOf('.') + 1); // a broker's is the whole subject

    var event = EventFrames.read(frames, publisher, topic);

    assertThat(event.topic()).isEqualTo(topic);
    assertThat(event.sequence()).isEqualTo(ByteBuffer.wrap(frames[2]).getLong());
    assertThat(event.publishedAtMillis()).isBetween(1_700_000_000_000L, 2_000_000_000_000L);
    assertThat(event.payload()).isNotEmpty();
    assertThat(EventFrames.envelope(event)).isEqualTo(frames[3]);
    assertThat(EventFrames.number(event.publisherId())).isEqualTo(frames[1]);
    assertThat(EventFrames.number(event.sequence())).isEqualTo(frames[2]);
  }

  private static byte[][] message(byte[] envelope) {
    var last = ByteBuffer.allocate(5 + envelope.length);
    last.put((byte) 1).putInt(envelope.length).put(envelope);
    return new byte[][] {
      EventFrames.topic(TOPIC), EventFrames.number(PUBLISHER), EventFrames.number(42), last.array()
    };
  }

  private static byte[] envelope(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static final String IDS = "cd3039 2a cf0000018bcfe56800 a96b762d6576656e7473 ";

  @ParameterizedTest
  @ValueSource(
      strings = {
        // the vector of the reference, and the same as an array
        "85ac7075626c69736865725f6964cd3039a873657175656e63652aac7075626c69736865645f6174"
            + "cf0000018bcfe56800a5746f706963a96b762d6576656e7473a77061796c6f6164c4026869",
        "95" + IDS + "c4026869",
        // the payload as a text, an integer longer than it need be
        "95" + IDS + "a26869",
        "95 cf0000000000003039 2a cf0000018bcfe56800 a96b762d6576656e7473 c4026869",
        // another order, keys of a later version, one of them nested
        "87a77061796c6f6164c4026869 a57374796c6593 01c0 81a178 dc0001c3 a173 d90161"
            + "a5746f706963a96b762d6576656e7473 ac7075626c69736865645f6174cf0000018bcfe56800"
            + "a873657175656e63652a ac7075626c69736865725f6964cd3039"
      })
  void formsThatMeanTheSameAreRead(String hex) throws IOException {
    var event = EventFrames.read(message(envelope(hex)), PUBLISHER, TOPIC);

    assertThat(event.publisherId()).isEqualTo(12345);
    assertThat(event.sequence()).isEqualTo(42);
    assertThat(event.publishedAtMillis()).isEqualTo(1_700_000_000_000L);
    assertThat(event.payload()).isEqualTo("hi".getBytes(StandardCharsets.US_ASCII));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "c0",
        "85",
        "80",
        "95" + IDS + "926869", // the payload as an array of integers
        "95" + IDS + "c4036869", // longer than what follows
        "95" + IDS + "c6ffffffff6869",
        "95" + IDS + "c402686900", // more behind it
        "94" + IDS, // an entry short
        "95 cd303a 2a cf0000018bcfe56800 a96b762d6576656e7473 c4026869", // another publisher
        "95 cd3039 2b cf0000018bcfe56800 a96b762d6576656e7473 c4026869", // another sequence
        "95 cd3039 2a cf0000018bcfe56800 a96b762d6576656e7474 c4026869", // another topic
        "95 d0ff 2a cf0000018bcfe56800 a96b762d6576656e7473 c4026869", // a negative number
        "dfffffffff a0",
        "81a178ddffffffff",
        "81a178dfffffffff",
        "81a178c1",
        "81a178c9ffffffff00"
      })
  void malformedEventsAreRefused(String hex) {
    assertThatThrownBy(() -> EventFrames.read(message(envelope(hex)), PUBLISHER, TOPIC))
        .isInstanceOf(IOException.class);
  }

  @Test
  void theFrameMustSayWhatItHolds() {
    var good = envelope("95" + IDS + "c4026869");

    var version = message(good);
    version[3][0] = 2;
    var length = message(good);
    length[3][4]++;
    var empty = message(good);
    empty[3] = new byte[0];
    var id = message(good);
    id[1] = new byte[] {1};
    for (var wrong : new byte[][][] {version, length, empty, id}) {
      assertThatThrownBy(() -> EventFrames.read(wrong, PUBLISHER, TOPIC))
          .isInstanceOf(IOException.class);
    }
    assertThatThrownBy(() -> EventFrames.read(message(good), PUBLISHER + 1, TOPIC))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("publisher");
  }
}
