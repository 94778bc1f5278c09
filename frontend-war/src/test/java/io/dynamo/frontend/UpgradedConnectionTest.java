package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.WebConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections over real sockets, behind objects that are stacked as Open Liberty stacks them. */
class UpgradedConnectionTest {
  private static final int LIMIT_SECONDS = 60;

  private Socket client = new Socket();
  private Socket served = new Socket();

  /** The container's virtual connection. */
  public static final class Virtual {
    private final Map<Object, Object> states = new HashMap<>();

    public Map<Object, Object> getStateMap() {
      return states;
    }
  }

  /** The container's channel. */
  public record Channel(Socket socket) {
    public Socket getSocket() {
      return socket;
    }
  }

  /** The container's link for TCP. */
  public record Tcp(Socket socket) {
    public Channel getSocketIOChannel() {
      return new Channel(socket);
    }
  }

  /** The container's link for TLS. */
  public record Tls(Socket socket) {
    public Tcp getDeviceLink() {
      return new Tcp(socket);
    }
  }

  /** A link that leads nowhere. */
  public static final class Ring {
    public Ring getDeviceLink() {
      return this;
    }
  }

  /** The container's link of requests. */
  public static final class Dispatcher {
    private final AtomicInteger closes = new AtomicInteger();

    public void close(Virtual of, @Nullable Exception failure) {
      assertThat(of.states).containsEntry("CloseUpgradedWebConnection", "true");
      closes.incrementAndGet();
    }
  }

  /** The container's buffer of bytes that it has read. */
  public record Unread(ByteBuffer bytes) {
    public int remaining() {
      return bytes.remaining();
    }

    public void get(byte[] into) {
      bytes.get(into);
    }

    public void release() {
      bytes.clear();
    }
  }

  /** The container's connection; its close waits for threads that read or write, as Liberty's. */
  public static final class Connection implements WebConnection {
    private final Virtual virtual = new Virtual();
    final Dispatcher dispatcherLink = new Dispatcher(); // found by its name
    private final Socket socket;
    private final Object reads = new Object();

    Connection(Socket socket) {
      this.socket = socket;
    }

    public Virtual getVirtualConnection() {
      return virtual;
    }

    public Tls getTCPConnectionContext() {
      return new Tls(socket);
    }

    @Override
    public ServletInputStream getInputStream() {
      return new ServletInputStream() {
        @Override
        public int read() throws IOException {
          synchronized (reads) {
            return socket.getInputStream().read();
          }
        }

        @Override
        public int read(byte[] into, int at, int count) throws IOException {
          synchronized (reads) {
            return socket.getInputStream().read(into, at, count);
          }
        }

        @Override
        public boolean isFinished() {
          return false;
        }

        @Override
        public boolean isReady() {
          return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
          throw new IllegalStateException();
        }
      };
    }

    @Override
    public ServletOutputStream getOutputStream() {
      return new ServletOutputStream() {
        @Override
        public void write(int value) throws IOException {
          socket.getOutputStream().write(value);
        }

        @Override
        public void write(byte[] bytes, int at, int count) throws IOException {
          socket.getOutputStream().write(bytes, at, count);
        }

        @Override
        public boolean isReady() {
          return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
          throw new IllegalStateException();
        }
      };
    }

    @Override
    public void close() {
      synchronized (reads) {
        assertThat(virtual.states).containsEntry("UpgradedListener", "true");
      }
    }
  }

  @BeforeEach
  void connect() throws IOException {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      client = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
      served = listener.accept();
    }
  }

  @AfterEach
  void disconnect() throws IOException {
    client.close();
    served.close();
  }

  @Test
  void bytesGoBothWays() throws Exception {
    var container = new Connection(served);
    var text = "early".getBytes(StandardCharsets.UTF_8);
    container.virtual.states.put("NotUpgradedUnreadData", new Unread(ByteBuffer.wrap(text)));
    try (var connection = UpgradedConnection.take(container)) {
      assertThat(connection.input().readNBytes(text.length)).isEqualTo(text);

      client.getOutputStream().write(7);
      assertThat(connection.input().read()).isEqualTo(7);

      connection.output().write(new byte[] {1, 2});
      connection.output().flush();
      assertThat(client.getInputStream().readNBytes(2)).containsExactly(1, 2);
    }
    assertThat(container.dispatcherLink.closes).hasValue(1);
  }

  @Test
  void aThreadThatWaitsForASilentClientIsWokenByTheClose() throws Exception {
    var container = new Connection(served);
    var connection = UpgradedConnection.take(container);
    // whether it waits already or comes later
    var reading = CompletableFuture.supplyAsync(() -> read(connection));

    connection.close();
    connection.close();

    assertThat(reading.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(-1);
    assertThat(container.dispatcherLink.closes).hasValue(1);
    assertThat(connection.input().read()).isEqualTo(-1);
    assertThatThrownBy(() -> connection.output().write(1)).isInstanceOf(IOException.class);
  }

  private static int read(UpgradedConnection connection) {
    try {
      return connection.input().read();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anotherContainerIsRefused() {
    var other =
        new WebConnection() {
          @Override
          public ServletInputStream getInputStream() {
            throw new IllegalStateException();
          }

          @Override
          public ServletOutputStream getOutputStream() {
            throw new IllegalStateException();
          }

          @Override
          public void close() {}
        };
    assertThatThrownBy(() -> UpgradedConnection.take(other))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be taken over");
    assertThatThrownBy(() -> UpgradedConnection.socket(new Ring()))
        .isInstanceOf(NoSuchMethodException.class);
  }
}
