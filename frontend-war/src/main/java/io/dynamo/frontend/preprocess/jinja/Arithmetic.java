package io.dynamo.frontend.preprocess.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** Python's operators on numbers, texts and lists; results are bounded in size. */
final class Arithmetic {
  private static final int MAX_BITS = 4096;
  private static final int MAX_ITEMS = 1 << 20;

  private final int maxLength;

  /**
   * @param maxLength characters or items of a result at most
   */
  Arithmetic(int maxLength) {
    this.maxLength = maxLength;
  }

  Object apply(String operator, Object left, Object right) {
    if (operator.equals("~")) {
      return text(Values.text(left), Values.text(right));
    }
    var a = Values.number(left);
    var b = Values.number(right);
    if (a != null && b != null) {
      return a instanceof Double || b instanceof Double || operator.equals("/")
          ? floats(operator, a.doubleValue(), b.doubleValue())
          : integers(operator, Values.big(a), Values.big(b));
    }
    if (operator.equals("%") && left instanceof String format) {
      return bounded(Formats.percent(format, right));
    }
    if (operator.equals("+")) {
      if (left instanceof String x && right instanceof String y) {
        return text(x, y);
      }
      if (left instanceof List<?> x
          && right instanceof List<?> y
          && left instanceof Tuple == right instanceof Tuple) {
        var sum = new ArrayList<Object>(checkedItems((long) x.size() + y.size()));
        sum.addAll(x);
        sum.addAll(y);
        return left instanceof Tuple ? new Tuple(sum) : sum;
      }
    }
    if (operator.equals("*")) {
      if (left instanceof String x && b != null) {
        return repeat(x, Values.intArgument(right));
      }
      if (right instanceof String y && a != null) {
        return repeat(y, Values.intArgument(left));
      }
      if (left instanceof List<?> x && b != null) {
        return repeat(x, Values.intArgument(right));
      }
      if (right instanceof List<?> y && a != null) {
        return repeat(y, Values.intArgument(left));
      }
    }
    for (var operand : List.of(left, right)) {
      if (operand instanceof Undefined undefined) {
        throw new JinjaException(undefined.message());
      }
    }
    if (operator.equals("+") && (left instanceof String || left instanceof List<?>)) {
      var type = Values.typeName(left);
      throw new JinjaException(
          "can only concatenate %s (not \"%s\") to %s"
              .formatted(type, Values.typeName(right), type));
    }
    throw new JinjaException(
        "unsupported operand type(s) for %s: '%s' and '%s'"
            .formatted(operator, Values.typeName(left), Values.typeName(right)));
  }

  private String text(String left, String right) {
    checked((long) left.length() + right.length());
    return left + right;
  }

  private String repeat(String text, int times) {
    checked((long) text.length() * Math.max(0, times));
    return text.repeat(Math.max(0, times));
  }

  private List<?> repeat(List<?> items, int times) {
    var repeated = new ArrayList<Object>(checkedItems((long) items.size() * Math.max(0, times)));
    for (int i = 0; i < times; i++) {
      repeated.addAll(items);
    }
    return items instanceof Tuple ? new Tuple(repeated) : repeated;
  }

  private String bounded(String text) {
    checked(text.length());
    return text;
  }

  private int checkedItems(long size) {
    if (size > MAX_ITEMS) {
      throw new JinjaException("a list of the template exceeds " + MAX_ITEMS + " items");
    }
    return checked(size);
  }

  private int checked(long length) {
    if (length > maxLength) {
      throw new JinjaException("a value of the template exceeds " + maxLength + " characters");
    }
    return (int) length;
  }

  private static Object integers(String operator, BigInteger a, BigInteger b) {
    if (a.bitLength() > MAX_BITS || b.bitLength() > MAX_BITS) {
      throw new JinjaException("a number of the template is too large");
    }
    return switch (operator) {
      case "+" -> Values.integer(a.add(b));
      case "-" -> Values.integer(a.subtract(b));
      case "*" -> Values.integer(a.multiply(b));
      case "//" -> {
        var parts = a.divideAndRemainder(nonZero(b));
        boolean down = parts[1].signum() != 0 && parts[1].signum() != b.signum();
        yield Values.integer(down ? parts[0].subtract(BigInteger.ONE) : parts[0]);
      }
      case "%" -> {
        var rest = a.remainder(nonZero(b));
        boolean adjust = rest.signum() != 0 && rest.signum() != b.signum();
        yield Values.integer(adjust ? rest.add(b) : rest);
      }
      default -> {
        if (b.signum() < 0) {
          yield Math.pow(a.doubleValue(), b.doubleValue());
        }
        if (b.bitLength() > 12 || (long) a.bitLength() * b.intValue() > MAX_BITS) {
          throw new JinjaException("a number of the template is too large");
        }
        yield Values.integer(a.pow(b.intValue()));
      }
    };
  }

  private static BigInteger nonZero(BigInteger divisor) {
    if (divisor.signum() == 0) {
      throw new JinjaException("integer division or modulo by zero");
    }
    return divisor;
  }

  private static Object floats(String operator, double a, double b) {
    if (b == 0 && "/%//".contains(operator)) {
      throw new JinjaException("division by zero");
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> floorDivision(a, b);
      case "%" -> {
        double rest = a % b;
        yield rest == 0 ? Math.copySign(0.0, b) : rest < 0 != b < 0 ? rest + b : rest;
      }
      default -> Math.pow(a, b);
    };
  }

  private static double floorDivision(double a, double b) {
    double rest = a % b;
    double quotient = (a - rest) / b - (rest != 0 && rest < 0 != b < 0 ? 1 : 0);
    if (quotient == 0) {
      return Math.copySign(0.0, a / b);
    }
    double floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }
}
