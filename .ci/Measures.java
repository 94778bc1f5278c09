import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** Prints tables on the shape of the Java sources below a directory; .ci/measures runs it. */
final class Measures {
  private static final int LONG_METHOD = 60;
  private static final int LONG_FILE = 400;
  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

  /** The pattern of io.dynamo.arch.WordsTest. */
  private static final Pattern RIDDLE =
      Pattern.compile(
          "^(?:What|Whatever|Who|Whoever|Whom|Whose)\\b"
              + "|\\b(?:told|unheard|begun|whatever|by their own word|of whom|to whom)\\b"
              + "|^It is [a-z]+ed\\.$",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern TOLD = Pattern.compile("\\btold\\b", Pattern.CASE_INSENSITIVE);

  /** The sizes of one package or module. */
  private static final class Size {
    int files;
    int lines;
    int longestFile;

    void add(int more) {
      files++;
      lines += more;
      longestFile = Math.max(longestFile, more);
    }
  }

  /** The counts of one module. */
  private static final class Counts {
    final Size size = new Size();
    int filesAboveLimit;
    int toldLines;
    int riddles;
    final List<Method> methods = new ArrayList<>();
  }

  private record Method(String name, long lines) {}

  private final SortedMap<String, Size> packages = new TreeMap<>();
  private final SortedMap<String, Counts> modules = new TreeMap<>();
  private final SortedMap<String, SortedSet<String>> imports = new TreeMap<>();

  public static void main(String[] args) throws IOException {
    var measures = new Measures();
    var root = Path.of(args[0]);
    try (var folders = Files.list(root)) {
      for (var module : folders.sorted().toList()) {
        if (Files.isDirectory(module.resolve("src/main/java"))) {
          measures.read(module);
        }
      }
    }
    measures.print();
  }

  private void read(Path module) throws IOException {
    var counts = modules.computeIfAbsent(module.getFileName().toString(), _ -> new Counts());
    List<Path> files;
    try (var walk = Files.walk(module.resolve("src/main/java"))) {
      files = walk.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
    var compiler = ToolProvider.getSystemJavaCompiler();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      var task =
          (JavacTask)
              compiler.getTask(
                  null,
                  manager,
                  _ -> {},
                  List.of(),
                  null,
                  manager.getJavaFileObjectsFromPaths(files));
      var trees = Trees.instance(task);
      for (var unit : task.parse()) {
        read(unit, trees, counts);
      }
    }
  }

  private void read(CompilationUnitTree unit, Trees trees, Counts counts) throws IOException {
    var text = unit.getSourceFile().getCharContent(true).toString();
    int lines = (int) text.lines().count();
    var name = unit.getPackageName() == null ? "" : unit.getPackageName().toString();
    packages.computeIfAbsent(name, _ -> new Size()).add(lines);
    counts.size.add(lines);
    counts.filesAboveLimit += lines > LONG_FILE ? 1 : 0;
    counts.toldLines += (int) text.lines().filter(line -> TOLD.matcher(line).find()).count();
    counts.riddles +=
        (int)
            JAVADOC
                .matcher(text)
                .results()
                .filter(found -> RIDDLE.matcher(firstSentence(found.group(1))).find())
                .count();
    for (var imported : unit.getImports()) {
      var target = packageOf(imported);
      if (!target.equals(name)) {
        imports.computeIfAbsent(name, _ -> new TreeSet<>()).add(target);
      }
    }
    findMethods(unit, trees, counts);
  }

  private static void findMethods(CompilationUnitTree unit, Trees trees, Counts counts) {
    var positions = trees.getSourcePositions();
    var lines = unit.getLineMap();
    new TreeScanner<Void, String>() {
      @Override
      public Void visitClass(ClassTree type, String outer) {
        return super.visitClass(type, outer + type.getSimpleName() + ".");
      }

      @Override
      public Void visitMethod(MethodTree method, String type) {
        long begin = positions.getStartPosition(unit, method);
        long end = positions.getEndPosition(unit, method);
        if (begin >= 0 && end >= 0) {
          long length = lines.getLineNumber(end) - lines.getLineNumber(begin) + 1;
          counts.methods.add(new Method(type + method.getName(), length));
        }
        return super.visitMethod(method, type);
      }
    }.scan(unit, "");
  }

  /** The package of an import: the leading parts that begin in lower case. */
  private static String packageOf(ImportTree imported) {
    var parts = imported.getQualifiedIdentifier().toString().split("\\.");
    var name = new StringBuilder();
    for (var part : parts) {
      if (!Character.isLowerCase(part.charAt(0))) {
        break;
      }
      name.append(name.isEmpty() ? "" : ".").append(part);
    }
    return name.toString();
  }

  private static String firstSentence(String javadoc) {
    var text = javadoc.replaceAll("(?m)^\\s*\\*", " ").replaceAll("\\s+", " ").strip();
    int end = text.indexOf(". ");
    return end < 0 ? text : text.substring(0, end + 1);
  }

  private void print() {
    System.out.println(
        "| module | files | lines | longest file | files > 400 | longest method |"
            + " methods > 60 | riddling first sentences | lines with \"told\" |");
    System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    modules.forEach(Measures::print);
    System.out.println();
    System.out.println("| package | files | lines | longest file |");
    System.out.println("| --- | --- | --- | --- |");
    packages.forEach(
        (name, size) ->
            System.out.printf(
                "| %s | %d | %d | %d |%n", name, size.files, size.lines, size.longestFile));
    var loops = loops();
    System.out.println();
    System.out.printf("Package loops: %d%n", loops.size());
    loops.forEach(loop -> System.out.println("- " + String.join(" ", loop)));
  }

  private static void print(String module, Counts counts) {
    var longest =
        counts.methods.stream()
            .max(Comparator.comparingLong(Method::lines))
            .orElse(new Method("none", 0));
    System.out.printf(
        "| %s | %d | %d | %d | %d | %s %d | %d | %d | %d |%n",
        module,
        counts.size.files,
        counts.size.lines,
        counts.size.longestFile,
        counts.filesAboveLimit,
        longest.name(),
        longest.lines(),
        counts.methods.stream().filter(method -> method.lines() > LONG_METHOD).count(),
        counts.riddles,
        counts.toldLines);
  }

  /** The sets of packages that reach each other by imports. */
  private List<SortedSet<String>> loops() {
    var found = new ArrayList<SortedSet<String>>();
    Set<String> seen = new HashSet<>();
    for (var name : packages.keySet()) {
      if (seen.contains(name)) {
        continue;
      }
      var loop = new TreeSet<String>();
      for (var other : reachable(name)) {
        if (packages.containsKey(other) && reachable(other).contains(name)) {
          loop.add(other);
        }
      }
      seen.addAll(loop);
      if (loop.size() > 1) {
        found.add(loop);
      }
    }
    return found;
  }

  private Set<String> reachable(String from) {
    var reached = new HashSet<String>();
    var open = new ArrayList<>(imports.getOrDefault(from, new TreeSet<>()));
    while (!open.isEmpty()) {
      var next = open.removeLast();
      if (reached.add(next)) {
        open.addAll(imports.getOrDefault(next, new TreeSet<>()));
      }
    }
    return reached;
  }
}
