package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventLoopsTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closingLeavesNoThreadBehind(boolean epoll) throws Exception {
    var loops = new EventLoops(2, epoll);
    var thread = loops.next().submit(Thread::currentThread).get();
    var server =
        new CallHomeServer(
            loops,
            null,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new ConnectionLimit(1, () -> {}),
            new StreamLimits(1024, Duration.ofSeconds(1), Duration.ZERO));
    assertThat(server.address().getPort()).isPositive();
    server.close();
    loops.close();
    loops.close();
    EventLoops.awaitHelperThread();
    thread.join(Duration.ofSeconds(5));
    assertThat(thread.isAlive()).isFalse();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("globalEventExecutor"));
  }

  @Test
  void aListenerThatIsBoundTooLateIsClosed() throws Exception {
    InetSocketAddress address;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = (InetSocketAddress) free.getLocalSocketAddress();
    }
    var held = new CountDownLatch(1);
    try (var loops = new EventLoops(1)) {
      loops.next().execute(() -> awaitQuietly(held));
      assertThatThrownBy(
              () ->
                  loops.listen(address, new ChannelInboundHandlerAdapter(), Duration.ofMillis(20)))
          .isInstanceOf(IllegalStateException.class);
      held.countDown();
      for (int i = 0; i < 3; i++) { // registration, binding and closing are a task each
        loops.next().submit(() -> {}).get(5, TimeUnit.SECONDS);
      }
      assertThatThrownBy(() -> new Socket(address.getAddress(), address.getPort()))
          .isInstanceOf(ConnectException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void idleConnectionsAreProbedOnBothSides(boolean epoll) throws Exception {
    var arrived = new CompletableFuture<Channel>();
    var onArrival =
        new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            arrived.complete(channel);
          }
        };
    try (var loops = new EventLoops(1, epoll)) {
      var listener =
          loops.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), onArrival);
      var dialled =
          loops
              .connect(
                  loops.next(),
                  (InetSocketAddress) listener.localAddress(),
                  Duration.ofSeconds(5),
                  new ChannelInboundHandlerAdapter())
              .sync()
              .channel();
      for (var side : List.of(dialled, arrived.get(5, TimeUnit.SECONDS))) {
        assertThat(side.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
        KeepAlive.times(epoll)
            .forEach(
                (option, value) ->
                    assertThat(side.config().getOption(option)).as("%s", option).isEqualTo(value));
      }
      assertThat(KeepAlive.times(epoll)).hasSize(3);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void anAddressInUseIsNamed() throws Exception {
    try (var loops = new EventLoops(1);
        var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var address = (InetSocketAddress) taken.getLocalSocketAddress();
      assertThatThrownBy(() -> loops.listen(address, new ChannelInboundHandlerAdapter()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(String.valueOf(address.getPort()));
    }
  }
}
