// Numbers as people read them. What is not known is a dash, never a zero.

export const UNKNOWN = "–";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

export function count(value) {
  if (!known(value)) {
    return UNKNOWN;
  }
  return Math.abs(value) < 100_000 ? whole.format(value) : short.format(value);
}

/** A rate: few digits for small ones. */
export function rate(value) {
  if (!known(value)) {
    return UNKNOWN;
  }
  if (value === 0) {
    return "0";
  }
  return value < 10 ? value.toFixed(1) : count(value);
}

/** A duration in seconds as [number, unit]. */
export function duration(seconds) {
  if (!known(seconds)) {
    return [UNKNOWN, ""];
  }
  const milliseconds = seconds * 1000;
  if (milliseconds < 10) {
    return [milliseconds.toFixed(1), "ms"];
  }
  return milliseconds < 1000 ? [milliseconds.toFixed(0), "ms"] : [seconds.toFixed(seconds < 10 ? 2 : 1), "s"];
}

export function time(seconds) {
  const [number, unit] = duration(seconds);
  return unit ? `${number} ${unit}` : number;
}

export function percent(part) {
  return known(part) ? `${(part * 100).toFixed(0)} %` : UNKNOWN;
}

/** A moment, in milliseconds, as a time of day. */
export function at(milliseconds) {
  return clock.format(new Date(milliseconds));
}

/** How long ago a moment was, by the server's clock. */
export function ago(milliseconds, now) {
  const seconds = Math.max(0, Math.round((now - milliseconds) / 1000));
  if (seconds < 120) {
    return `${seconds} s`;
  }
  if (seconds < 7200) {
    return `${Math.floor(seconds / 60)} min`;
  }
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** An id, shortened in the middle. */
export function brief(id) {
  return id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-6)}`;
}
