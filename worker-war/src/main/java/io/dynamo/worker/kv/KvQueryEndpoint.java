package io.dynamo.worker.kv;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers for one rank's log, one question at a time in the order they came, on tasks of an
 * executor. Safe for concurrent use; never blocks its caller.
 */
final class KvQueryEndpoint implements EndpointHandler<KvQuery, KvReply> {
  /** Questions that wait for their turn at most. */
  static final int WAITING = 64;

  private record Question(KvQuery query, ItemStream<KvReply> answer) {}

  private final RankLog log;
  private final Executor executor;
  private final Queue<Question> waiting = new ArrayBlockingQueue<>(WAITING);
  private final AtomicInteger work = new AtomicInteger(); // answering passes owed

  KvQueryEndpoint(RankLog log, Executor executor) {
    this.log = log;
    this.executor = executor;
  }

  @Override
  public Flow.Publisher<KvReply> handle(KvQuery query, RequestContext context) {
    var answer = new ItemStream<KvReply>(1, () -> {}, () -> {});
    if (!waiting.offer(new Question(query, answer))) {
      throw new WorkerBusyException(
          "%d questions about rank %s wait already".formatted(WAITING, query.rank()));
    }
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::answerAll);
      } catch (RejectedExecutionException stopped) {
        waiting.clear();
        work.set(0);
        throw new WorkerBusyException("the worker of rank %s stops".formatted(query.rank()));
      }
    }
    return answer;
  }

  private void answerAll() {
    int passes = 1;
    do {
      for (var next = waiting.poll(); next != null; next = waiting.poll()) {
        answer(next);
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  private void answer(Question question) {
    var to = question.answer();
    if (to.isCancelled()) {
      return;
    }
    try {
      var _ = to.offer(log.answer(question.query())); // there is room for the one reply
      to.complete();
    } catch (RuntimeException | Error failure) {
      to.fail(failure);
    }
  }
}
