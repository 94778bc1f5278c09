package io.dynamo.frontend.openai;

import io.dynamo.frontend.openai.wire.ChatAnswer;
import io.dynamo.inference.FinishReason;
import java.util.concurrent.TimeUnit;

/** Folds a stream into a unary answer: the same text, finish reason and usage. */
final class ChatFold {
  private static final long WAIT_NANOS = TimeUnit.HOURS.toNanos(1); // the stream's deadline is less

  private ChatFold() {}

  /**
   * Waits for the end of {@code stream}.
   *
   * @return the body
   * @throws io.dynamo.error.DynamoException the stream's failure
   */
  static byte[] fold(ChatStream stream, ChatAnswer answer) throws InterruptedException {
    var text = new StringBuilder();
    FinishReason finish = null;
    while (finish == null) {
      var delta = stream.poll();
      if (delta == null) {
        stream.await(WAIT_NANOS);
      } else {
        text.append(delta.text());
        finish = delta.finish();
      }
    }
    return answer.unary(text.toString(), finish, stream.usage());
  }
}
