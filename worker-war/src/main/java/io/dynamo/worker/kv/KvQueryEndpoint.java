package io.dynamo.worker.kv;

import io.dynamo.concurrent.CoalescedTask;
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

/**
 * Answers queries about one rank's log, one at a time in order of arrival, on tasks of an executor.
 * Safe for concurrent use; never blocks its caller.
 */
final class KvQueryEndpoint implements EndpointHandler<KvQuery, KvReply> {
  /** The maximum number of queries that wait. */
  static final int WAITING = 64;

  private record Question(KvQuery query, ItemStream<KvReply> answer) {}

  private final RankLog log;
  private final Queue<Question> waiting = new ArrayBlockingQueue<>(WAITING);
  private final CoalescedTask answering;

  KvQueryEndpoint(RankLog log, Executor executor) {
    this.log = log;
    this.answering =
        new CoalescedTask("the answers to KV queries", executor, this::answerAll, this::refuseAll);
  }

  @Override
  public Flow.Publisher<KvReply> handle(KvQuery query, RequestContext context) {
    var answer = new ItemStream<KvReply>(1, () -> {}, () -> {});
    if (!waiting.offer(new Question(query, answer))) {
      throw new WorkerBusyException(
          "%d questions about rank %s wait already".formatted(WAITING, query.rank()));
    }
    if (!answering.request()) {
      throw stops(query);
    }
    return answer;
  }

  private void answerAll() {
    for (var next = waiting.poll(); next != null; next = waiting.poll()) {
      answer(next);
    }
  }

  private void refuseAll() {
    for (var next = waiting.poll(); next != null; next = waiting.poll()) {
      next.answer().fail(stops(next.query()));
    }
  }

  private static WorkerBusyException stops(KvQuery query) {
    return new WorkerBusyException("the worker of rank %s stops".formatted(query.rank()));
  }

  private void answer(Question question) {
    var to = question.answer();
    if (to.isCancelled()) {
      return;
    }
    try {
      var _ = to.offer(log.answer(question.query())); // the stream has room for the one reply
      to.complete();
    } catch (RuntimeException | Error failure) {
      to.fail(failure);
    }
  }
}
