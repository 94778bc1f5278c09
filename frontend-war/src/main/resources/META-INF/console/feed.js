// The live figures: one event stream per page, which pauses while nobody looks.

const HISTORY = 240; // seconds
const SILENCE = 6_000; // after which contact counts as lost
const HIDDEN = 30_000; // after which a hidden page closes its stream
const AGAIN = 3_000; // between tries where the browser does not try by itself

/**
 * Events: "sample" with each new sample, "contact" when the state of the connection changes.
 */
export class Feed extends EventTarget {
  /** connecting, live, lost or paused */
  state = "connecting";
  sample = null;
  history = []; // totals of the last samples, oldest first
  #source = null;
  #watchdog = 0;
  #pausing = 0;
  #retry = 0;

  start() {
    this.#connect();
    document.addEventListener("visibilitychange", () => this.#visibility());
    addEventListener("pagehide", () => this.#disconnect());
    addEventListener("pageshow", (event) => event.persisted && this.#connect());
  }

  /** The values of one figure over the last minutes. */
  column(name) {
    return this.history.map((totals) => totals[name]);
  }

  #connect() {
    this.#disconnect();
    const source = new EventSource("/console/data/stream");
    this.#source = source;
    this.#expect();
    source.addEventListener("history", (event) => {
      const { names, rows } = JSON.parse(event.data);
      if (rows.length > 0) {
        this.history = rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
      }
    });
    source.addEventListener("sample", (event) => {
      const sample = JSON.parse(event.data);
      this.sample = sample;
      if (this.history.at(-1)?.at === sample.at) {
        this.history.pop(); // the history ended with it
      }
      this.history.push({ at: sample.at, ...sample.totals });
      this.history.splice(0, this.history.length - HISTORY);
      this.#expect();
      this.#become("live");
      this.dispatchEvent(new Event("sample"));
    });
    source.addEventListener("error", () => {
      this.#become("lost");
      if (source.readyState === EventSource.CLOSED) {
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => this.#connect(), AGAIN);
      }
    });
  }

  #disconnect() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = null;
  }

  #expect() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      this.#become("lost");
      this.#connect(); // a connection that only looks open fires no error
    }, SILENCE);
  }

  #visibility() {
    clearTimeout(this.#pausing);
    if (document.hidden) {
      this.#pausing = setTimeout(() => {
        this.#disconnect();
        this.#become("paused");
      }, HIDDEN);
    } else if (!this.#source) {
      this.#connect();
    }
  }

  #become(state) {
    if (this.state !== state) {
      this.state = state;
      this.dispatchEvent(new Event("contact"));
    }
  }
}
