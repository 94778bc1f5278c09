package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private static final byte[] HEAD = {1, 2};
  private static final byte[] TAIL = {9};

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final List<String> heard = new ArrayList<>();
  private boolean open = true;
  private final Outbox outbox =
      new Outbox(
          channel,
          new Outbox.Owner() {
            @Override
            public boolean isOpen() {
              return open;
            }

            @Override
            public void written(int items) {
              heard.add("written " + items);
            }

            @Override
            public void failed() {
              heard.add("failed");
            }
          });

  @AfterEach
  void nothingIsLeft() {
    channel.runPendingTasks();
    assertThat(channel.<ByteBuf>readOutbound()).isNull();
    channel.finish();
  }

  private void send(int bytes) {
    outbox.item(HEAD, ByteBuffer.wrap(new byte[bytes]), TAIL);
  }

  /** Returns the lengths of the bodies in the next buffer that was written. */
  private List<Integer> nextBodies() throws FrameException {
    ByteBuf bytes = channel.readOutbound();
    assertThat(bytes).as("a buffer leaves").isNotNull();
    List<Integer> lengths = new ArrayList<>();
    try {
      for (var frame = TwoPartFrame.read(bytes, 1 << 20);
          frame != null;
          frame = TwoPartFrame.read(bytes, 1 << 20)) {
        assertThat(frame.header()).isEmpty();
        assertThat(frame.body().getByte(0)).isEqualTo(HEAD[0]);
        assertThat(frame.body().getByte(frame.body().writerIndex() - 1)).isEqualTo(TAIL[0]);
        lengths.add(frame.body().readableBytes() - HEAD.length - TAIL.length);
        frame.release();
      }
      assertThat(bytes.isReadable()).as("bytes after the last frame").isFalse();
    } finally {
      bytes.release();
    }
    return lengths;
  }

  @Test
  void aSingleItemLeavesWithTheNextTurnOfTheLoop() throws Exception {
    send(10);
    channel.runPendingTasks();
    assertThat(nextBodies()).containsExactly(10);
    assertThat(heard).containsExactly("written 1");
  }

  @Test
  void itemsOfOneTurnLeaveInOneBuffer() throws Exception {
    for (int i = 1; i <= 40; i++) {
      send(i);
    }
    channel.runPendingTasks();
    assertThat(nextBodies()).hasSize(40).startsWith(1, 2, 3).endsWith(39, 40);
    assertThat(heard).containsExactly("written 40");
  }

  @Test
  void moreThanAChunkLeavesInSeveralBuffersOfWholeFrames() throws Exception {
    int each = 1000;
    int fit = Outbox.CHUNK_BYTES / (TwoPartFrame.PREFIX_BYTES + HEAD.length + each + TAIL.length);
    for (int i = 0; i < fit + 2; i++) {
      send(each);
    }
    channel.runPendingTasks();
    assertThat(nextBodies()).hasSize(fit);
    assertThat(nextBodies()).hasSize(2);
    assertThat(heard).containsExactly("written " + fit, "written 2");
  }

  @Test
  void anItemBeyondAChunkHasABufferOfItsOwnAndKeepsItsPlace() throws Exception {
    send(1);
    send(3 * Outbox.CHUNK_BYTES);
    send(2);
    channel.runPendingTasks();
    assertThat(nextBodies()).containsExactly(1);
    assertThat(nextBodies()).containsExactly(3 * Outbox.CHUNK_BYTES);
    assertThat(nextBodies()).containsExactly(2);
  }

  @Test
  void sentBytesAreCopied() {
    var bytes = new byte[] {5};
    outbox.item(HEAD, ByteBuffer.wrap(bytes), TAIL);
    bytes[0] = 6;
    channel.runPendingTasks();
    ByteBuf left = channel.readOutbound();
    try {
      assertThat(left.getByte(TwoPartFrame.PREFIX_BYTES + HEAD.length)).isEqualTo((byte) 5);
    } finally {
      left.release();
    }
  }

  @Test
  void onlyTheRestOfAReadBufferIsSent() throws Exception {
    outbox.item(HEAD, ByteBuffer.wrap(new byte[9], 2, 4).slice(), TAIL);
    channel.runPendingTasks();
    assertThat(nextBodies()).containsExactly(4);
  }

  @Test
  void aStepRunsBetweenTheFramesThatItCameBetween() throws Exception {
    send(1);
    outbox.then(() -> open = false);
    send(2);
    channel.runPendingTasks();
    assertThat(nextBodies()).containsExactly(1);
    assertThat(heard).containsExactly("written 1");
  }

  @Test
  void aStepFromTheLoopItselfDoesNotOvertake() {
    send(1);
    channel
        .eventLoop()
        .execute(
            () -> {
              send(2);
              outbox.then(() -> heard.add("step"));
              heard.add("asked");
            });
    channel.runPendingTasks();
    ByteBuf first = channel.readOutbound();
    ByteBuf second = channel.readOutbound();
    first.release();
    second.release();
    assertThat(heard.indexOf("asked")).isLessThan(heard.indexOf("step"));
  }

  @Test
  void aStepThatFailsDoesNotTakeTheNextWithIt() {
    outbox.then(
        () -> {
          throw new IllegalStateException("test");
        });
    outbox.then(() -> heard.add("step"));
    channel.runPendingTasks();
    assertThat(heard).containsExactly("failed", "step");
  }

  @Test
  void theHeaderOfAStreamIsNoItem() throws Exception {
    outbox.header(new byte[] {'{', '}'});
    channel.runPendingTasks();
    ByteBuf left = channel.readOutbound();
    var frame = TwoPartFrame.read(left, 100);
    if (frame == null) {
      throw new AssertionError("no whole frame");
    }
    assertThat(frame.header()).containsExactly('{', '}');
    frame.release();
    left.release();
    assertThat(heard).containsExactly("written 0");
  }

  @Test
  void aFailedWriteIsReported() {
    channel
        .pipeline()
        .addFirst(
            new ChannelOutboundHandlerAdapter() {
              @Override
              public void write(ChannelHandlerContext ctx, Object bytes, ChannelPromise promise) {
                ((ByteBuf) bytes).release();
                promise.setFailure(new IOException("test"));
              }
            });
    send(1);
    channel.runPendingTasks();
    assertThat(heard).containsExactly("failed");
  }
}
