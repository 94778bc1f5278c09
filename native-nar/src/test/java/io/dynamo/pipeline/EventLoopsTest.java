package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
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
    thread.join(Duration.ofSeconds(5));
    assertThat(thread.isAlive()).isFalse();
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
