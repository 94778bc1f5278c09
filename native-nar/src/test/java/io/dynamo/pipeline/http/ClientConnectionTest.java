package io.dynamo.pipeline.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.EventLoops;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One connection without sockets. */
class ClientConnectionTest {
  private static final EventLoops LOOPS = new EventLoops(1);
  private static final int IDLE = 64;

  private final IdleConnections pool = new IdleConnections();
  private final List<String> heard = new ArrayList<>();

  private EmbeddedChannel connected() {
    var channel = new EmbeddedChannel(new HttpClientCodec());
    channel.pipeline().addLast(new ClientConnection(channel, pool, "h"));
    return channel;
  }

  private ClientCall call(EmbeddedChannel on, int window) {
    var client =
        new HttpClient(LOOPS, URI.create("http://127.0.0.1:1"), null, Duration.ofSeconds(1));
    var request = new ClientRequest("POST", "/", Map.of(), new byte[0], false);
    var call = new ClientCall(client, on.eventLoop(), request, window, new Listening());
    call.take(on.pipeline().get(ClientConnection.class));
    return call;
  }

  private final class Listening implements AnswerListener {
    @Override
    public void begun(int status) {}

    @Override
    public void content(byte[] bytes) {
      heard.add(new String(bytes, StandardCharsets.UTF_8));
    }

    @Override
    public void ended() {
      heard.add("end");
    }

    @Override
    public void failed(IOException cause) {
      heard.add("failed");
    }
  }

  private static void deliver(EmbeddedChannel to, String text) {
    to.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  @Test
  void nothingIsReadThatNobodyAskedFor() {
    var channel = connected();
    var call = call(channel, 2);
    deliver(channel, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n");
    assertThat(channel.config().isAutoRead()).isTrue();
    deliver(channel, "1\r\nb\r\n1\r\nc\r\n");
    assertThat(channel.config().isAutoRead()).isFalse();
    call.ask(1); // which came already
    assertThat(channel.config().isAutoRead()).isFalse();
    call.ask(1);
    assertThat(channel.config().isAutoRead()).isTrue();
    deliver(channel, "1\r\nd\r\n0\r\n\r\n");
    assertThat(heard).containsExactly("a", "b", "c", "d", "end");
    assertThat(channel.config().isAutoRead()).as("waits for the next call").isTrue();
    assertThat(pool.take()).isNotNull();
  }

  @Test
  void bytesWithoutARequestCloseTheConnection() {
    var channel = connected();
    call(channel, 9);
    deliver(channel, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assertThat(channel.isOpen()).isTrue();
    deliver(channel, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assertThat(channel.isOpen()).isFalse();
    assertThat(pool.take()).isNull();
    assertThat(heard).containsExactly("end");
  }

  @Test
  void anAnswerThatWasLeftIsReadToItsEnd() {
    var channel = connected();
    var call = call(channel, 1);
    deliver(channel, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n");
    call.leave();
    assertThat(pool.take()).isNull();
    deliver(channel, "1\r\nb\r\n0\r\n\r\n");
    assertThat(channel.isOpen()).isTrue();
    assertThat(pool.take()).isNotNull();
    assertThat(heard).containsExactly("a");
  }

  @Test
  void closedConnectionsAreNotTakenFromThePool() {
    var channel = connected();
    call(channel, 9);
    deliver(channel, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    var connection = channel.pipeline().get(ClientConnection.class);
    connection.close();
    pool.add(connection); // as if the loop had not told of the close yet

    assertThat(pool.take()).isNull();
  }

  @Test
  void anotherProtocolIsAFailure() {
    var channel = connected();
    call(channel, 9);
    deliver(channel, "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n");

    assertThat(heard).containsExactly("failed");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void connectionsWaitInABoundedPool() {
    var channels = new ArrayList<EmbeddedChannel>();
    for (int i = 0; i <= IDLE; i++) {
      var channel = connected();
      channels.add(channel);
      call(channel, 9);
      deliver(channel, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    }
    assertThat(channels.stream().filter(EmbeddedChannel::isOpen)).hasSize(IDLE);
    assertThat(channels.getFirst().isOpen()).isFalse();
  }
}
