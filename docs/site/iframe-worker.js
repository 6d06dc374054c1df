// Browsers start no worker from a file. Pages that are opened as files therefore search in a hidden frame, which gets
// and sends messages as a worker does. The name of this file tells the plugin `offline` not to load one from the network.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc =
        '<script>postMessage = data => parent.postMessage(data, "*")</script>' + `<script src="${url}"></script>`;
      this.loaded = new Promise(resolve => (frame.onload = () => resolve(frame.contentWindow)));
      addEventListener("message", ({ data, source }) => {
        if (source === frame.contentWindow) this.dispatchEvent(new MessageEvent("message", { data }));
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.loaded.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
