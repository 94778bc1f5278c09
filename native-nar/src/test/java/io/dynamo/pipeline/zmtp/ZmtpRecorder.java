package io.dynamo.pipeline.zmtp;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records a connection's events as text. */
final class ZmtpRecorder implements ZmtpListener {
  private final LinkedBlockingQueue<String> words = new LinkedBlockingQueue<>();

  @Override
  public void up() {
    words.add("up");
  }

  @Override
  public void message(byte[][] frames, int count) {
    var text = new StringBuilder().append(count).append(':');
    for (int i = 0; i < Math.min(count, frames.length); i++) {
      text.append(' ').append(new String(frames[i], StandardCharsets.ISO_8859_1));
    }
    words.add(text.toString());
  }

  @Override
  public void ended(@Nullable String violation) {
    words.add("ended: " + violation);
  }

  String next() {
    try {
      var word = words.poll(20, TimeUnit.SECONDS);
      if (word == null) {
        throw new AssertionError("no event arrives");
      }
      return word;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
