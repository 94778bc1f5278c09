package io.dynamo.frontend.load;

import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.preprocess.PrefixCache;
import io.dynamo.metrics.Metrics;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * CPU time of one thread for the prompt of a chat of 40,000 words that grows by two messages each
 * turn, rendered and tokenised. Arguments: a model folder, bytes of the prefix cache, words of a
 * message, turns.
 */
class GrowingChat {
  private static final String[] SYLLABLES =
      "the wa ter peo ple found in night an un be liev able con ver sa tion on pro gram ming of at"
          .split(" ");
  private static final Random RANDOM = new Random(1);

  public static void main(String[] args) throws Exception {
    var folder = Path.of(args[0]);
    long cacheBytes = Long.parseLong(args[1]);
    int messageWords = Integer.parseInt(args[2]);
    int turns = Integer.parseInt(args[3]);
    var files = new HashMap<String, String>();
    for (var name : List.of("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")) {
      files.put(name, Files.readString(folder.resolve(name)));
    }
    try (var text = HuggingFaceText.of(files, "", new PrefixCache(cacheBytes, new Metrics()))) {
      for (int chat = 0; chat < 3; chat++) { // the first ones warm up
        var messages = new ArrayList<Map<String, Object>>();
        messages.add(Map.of("role", "system", "content", "Be brief."));
        for (int words = 0; words < 40_000; words += 2 * messageWords) {
          grow(messages, messageWords);
        }
        text.encode(text.render(new ChatPrompt(messages, List.of(), Map.of())));
        var cpu = ManagementFactory.getThreadMXBean();
        long render = 0;
        long encode = 0;
        int tokens = 0;
        for (int turn = 0; turn < turns; turn++) {
          grow(messages, messageWords);
          long before = cpu.getCurrentThreadCpuTime();
          var prompt = text.render(new ChatPrompt(messages, List.of(), Map.of()));
          long between = cpu.getCurrentThreadCpuTime();
          tokens = text.encode(prompt).length;
          render += between - before;
          encode += cpu.getCurrentThreadCpuTime() - between;
        }
        System.out.printf(
            "cache %d, messages of %d words, %d tokens: render %.2f ms, tokenise %.2f ms per"
                + " turn%n",
            cacheBytes, messageWords, tokens, render / 1e6 / turns, encode / 1e6 / turns);
      }
    }
  }

  private static void grow(List<Map<String, Object>> messages, int words) {
    for (var role : List.of("user", "assistant")) {
      var content = new StringBuilder();
      for (int i = 0; i < words; i++) {
        for (int syllables = 1 + RANDOM.nextInt(3); syllables > 0; syllables--) {
          content.append(SYLLABLES[RANDOM.nextInt(SYLLABLES.length)]);
        }
        content.append(i % 12 == 11 ? ".\n" : " ");
      }
      messages.add(Map.of("role", role, "content", content.toString()));
    }
  }
}
