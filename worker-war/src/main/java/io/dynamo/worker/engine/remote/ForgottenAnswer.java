package io.dynamo.worker.engine.remote;

import io.dynamo.pipeline.LoopThread;
import io.dynamo.pipeline.http.AnswerListener;
import io.dynamo.pipeline.http.SentRequest;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Reads an answer that means nothing to its end, so that its connection can be kept. */
final class ForgottenAnswer implements AnswerListener {
  private static final System.Logger LOG = System.getLogger(ForgottenAnswer.class.getName());

  private final URI asked;
  private volatile @Nullable Future<?> limit;
  private volatile boolean over;

  /**
   * @param asked for the log
   */
  ForgottenAnswer(URI asked) {
    this.asked = asked;
  }

  /** Gives the request up when its answer has not ended within {@code most}. */
  void begin(SentRequest sent, LoopThread thread, Duration most) {
    limit = thread.after(most, sent::cancel);
    if (over) {
      end();
    }
  }

  @Override
  public void begun(int status) {}

  @Override
  public void content(byte[] bytes) {}

  @Override
  public void ended() {
    end();
  }

  @Override
  public void failed(IOException cause) {
    LOG.log(Level.DEBUG, "{0} was not reached: {1}", asked, cause);
    end();
  }

  private void end() {
    over = true;
    var timer = limit;
    if (timer != null) {
      timer.cancel(false);
    }
  }
}
