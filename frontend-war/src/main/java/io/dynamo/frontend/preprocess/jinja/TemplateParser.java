package io.dynamo.frontend.preprocess.jinja;

import io.dynamo.frontend.preprocess.jinja.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a template's statements. For one thread. */
final class TemplateParser {
  private static final int MAX_DEPTH = 100;

  private final ExpressionParser tokens;
  private int depth;
  private int loops;

  private TemplateParser(ExpressionParser tokens) {
    this.tokens = tokens;
  }

  static List<Node> parse(String template) {
    var parser = new TemplateParser(new ExpressionParser(Lexer.tokens(template)));
    var body = parser.body(Set.of());
    if (parser.tokens.current().kind() != Kind.END) {
      throw parser.tokens.error("unexpected tag");
    }
    parser.tokens.requireKnown();
    return body;
  }

  /** Nodes up to a tag named in {@code ends}, whose name is the current token then. */
  private List<Node> body(Set<String> ends) {
    if (++depth > MAX_DEPTH) {
      throw tokens.error("blocks are nested too deep");
    }
    var body = new ArrayList<Node>();
    while (true) {
      var token = tokens.current();
      switch (token.kind()) {
        case DATA -> body.add(new Node.Data(tokens.next().text()));
        case OUTPUT_BEGIN -> {
          tokens.next();
          body.add(new Node.Output(tokens.tuple()));
          expect(Kind.OUTPUT_END);
        }
        case BLOCK_BEGIN -> {
          tokens.next();
          if (ends.contains(tokens.current().text())) {
            depth--;
            return body;
          }
          body.add(statement());
        }
        default -> {
          if (!ends.isEmpty()) {
            throw tokens.error("expected one of " + ends);
          }
          depth--;
          return body;
        }
      }
    }
  }

  private List<Node> bodyUntil(String end) {
    expect(Kind.BLOCK_END);
    var body = body(Set.of(end));
    tokens.next();
    expect(Kind.BLOCK_END);
    return body;
  }

  private void expect(Kind kind) {
    if (tokens.current().kind() != kind) {
      throw tokens.error("expected the end of the tag");
    }
    tokens.next();
  }

  private Node statement() {
    var name = tokens.name();
    return switch (name) {
      case "for" -> forLoop();
      case "if" -> conditional();
      case "set" -> set();
      case "macro" -> macro(tokens.name(), "endmacro");
      case "call" -> callBlock();
      case "filter" -> {
        var filter = tokens.filter(new Expr.Literal(""));
        yield new Node.FilterBlock(filter.filter(), filter.arguments(), bodyUntil("endfilter"));
      }
      case "generation" -> new Node.Scoped(List.of(), List.of(), bodyUntil("endgeneration"));
      case "with" -> with();
      case "break", "continue" -> {
        if (loops == 0) {
          throw tokens.error("'" + name + "' outside a loop");
        }
        expect(Kind.BLOCK_END);
        yield name.equals("break") ? new Node.Break() : new Node.Continue();
      }
      default -> throw tokens.error("unknown or unsupported tag '" + name + "'");
    };
  }

  private Node forLoop() {
    var targets = names();
    tokens.expectName("in");
    var in = tokens.iterable();
    var condition = tokens.skipName("if") ? tokens.expression() : null;
    boolean recursive = tokens.skipName("recursive");
    expect(Kind.BLOCK_END);
    loops++;
    var body = body(Set.of("else", "endfor"));
    loops--;
    List<Node> otherwise = List.of();
    if (tokens.next().text().equals("else")) {
      otherwise = bodyUntil("endfor");
    } else {
      expect(Kind.BLOCK_END);
    }
    return new Node.For(targets, in, condition, recursive, body, otherwise);
  }

  private Node conditional() {
    int before = tokens.unknown();
    var branches = branches();
    tokens.forgive(before);
    return new Node.If(branches);
  }

  private List<Node.Branch> branches() {
    var branches = new ArrayList<Node.Branch>();
    Expr test = tokens.tuple();
    while (true) {
      expect(Kind.BLOCK_END);
      branches.add(new Node.Branch(test, body(Set.of("elif", "else", "endif"))));
      switch (tokens.next().text()) {
        case "elif" -> test = tokens.tuple();
        case "else" -> {
          branches.add(new Node.Branch(new Expr.Literal(true), bodyUntil("endif")));
          return branches;
        }
        default -> {
          expect(Kind.BLOCK_END);
          return branches;
        }
      }
    }
  }

  private Node set() {
    var targets = names();
    if (targets.size() == 1 && tokens.skipOperator(".")) {
      var attribute = tokens.name();
      if (!tokens.skipOperator("=")) {
        return capture(targets.getFirst(), attribute);
      }
      var value = tokens.tuple();
      expect(Kind.BLOCK_END);
      return new Node.AssignAttribute(targets.getFirst(), attribute, value);
    }
    if (!tokens.skipOperator("=")) {
      return capture(targets.getFirst(), null);
    }
    var value = tokens.tuple();
    expect(Kind.BLOCK_END);
    return new Node.Assign(targets, value);
  }

  private Node capture(String target, @Nullable String attribute) {
    Expr filtered = null;
    while (tokens.skipOperator("|")) {
      filtered = tokens.filter(filtered == null ? new Expr.Name(Node.Capture.TEXT) : filtered);
    }
    return new Node.Capture(target, attribute, filtered, bodyUntil("endset"));
  }

  private Node callBlock() {
    var parameters = new ArrayList<String>();
    var defaults = new ArrayList<@Nullable Expr>();
    if (tokens.current().isOperator("(")) {
      parameters(parameters, defaults);
    }
    if (!(tokens.expression() instanceof Expr.Call call)) {
      throw tokens.error("expected a call");
    }
    return new Node.CallBlock(
        call, macro("caller", parameters, defaults, "endcall", tokens.position()));
  }

  private Node.Macro macro(String name, String end) {
    var parameters = new ArrayList<String>();
    var defaults = new ArrayList<@Nullable Expr>();
    parameters(parameters, defaults);
    return macro(name, parameters, defaults, end, tokens.position());
  }

  private Node.Macro macro(
      String name,
      List<String> parameters,
      List<@Nullable Expr> defaults,
      String end,
      int position) {
    int outer = loops;
    loops = 0;
    var body = bodyUntil(end);
    loops = outer;
    return new Node.Macro(
        name,
        parameters,
        defaults,
        body,
        tokens.mentions("caller", position) || parameters.contains("caller"),
        tokens.mentions("varargs", position),
        tokens.mentions("kwargs", position));
  }

  private void parameters(List<String> parameters, List<@Nullable Expr> defaults) {
    tokens.expectOperator("(");
    while (!tokens.skipOperator(")")) {
      parameters.add(tokens.name());
      defaults.add(tokens.skipOperator("=") ? tokens.expression() : null);
      if (!tokens.current().isOperator(")")) {
        tokens.expectOperator(",");
      }
    }
  }

  private Node with() {
    var names = new ArrayList<String>();
    var values = new ArrayList<Expr>();
    while (tokens.current().kind() != Kind.BLOCK_END) {
      names.add(tokens.name());
      tokens.expectOperator("=");
      values.add(tokens.expression());
      tokens.skipOperator(",");
    }
    return new Node.Scoped(names, values, bodyUntil("endwith"));
  }

  private List<String> names() {
    boolean parenthesized = tokens.skipOperator("(");
    var names = new ArrayList<String>();
    do {
      names.add(tokens.name());
    } while (tokens.skipOperator(","));
    if (parenthesized) {
      tokens.expectOperator(")");
    }
    return names;
  }
}
