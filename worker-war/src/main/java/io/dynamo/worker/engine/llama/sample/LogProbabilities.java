package io.dynamo.worker.engine.llama.sample;

import io.dynamo.inference.Logprobs.Top;
import java.util.ArrayList;
import java.util.List;

/** Natural logarithms of the probabilities that a model gives, before any option changes them. */
final class LogProbabilities {
  private final double[] values;
  private final int[] likeliest; // ids by falling probability, then rising id

  /**
   * @param top number of likeliest tokens to keep
   */
  LogProbabilities(float[] logits, int at, int vocabulary, int top) {
    this.values = new double[vocabulary];
    double max = Double.NEGATIVE_INFINITY;
    for (int id = 0; id < vocabulary; id++) {
      max = Math.max(max, logits[at + id]);
    }
    double sum = 0;
    for (int id = 0; id < vocabulary; id++) {
      sum += Math.exp(logits[at + id] - max);
    }
    double shift = max + Math.log(sum);
    for (int id = 0; id < vocabulary; id++) {
      values[id] = logits[at + id] - shift;
    }
    this.likeliest = likeliest(Math.min(top, vocabulary));
  }

  private int[] likeliest(int top) {
    var ids = new int[top];
    int count = 0;
    for (int id = 0; id < values.length && top > 0; id++) {
      if (count == top && values[id] <= values[ids[count - 1]]) {
        continue;
      }
      int place = count < top ? count++ : count - 1;
      while (place > 0 && values[ids[place - 1]] < values[id]) {
        ids[place] = ids[place - 1];
        place--;
      }
      ids[place] = id;
    }
    return ids;
  }

  double of(int token) {
    return values[token];
  }

  List<Top> top() {
    var top = new ArrayList<Top>(likeliest.length);
    for (int id : likeliest) {
      top.add(new Top(top.size() + 1, id, null, values[id], null));
    }
    return top;
  }
}
