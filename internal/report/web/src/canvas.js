// Canvases that follow the size of their element and the resolution of the screen.

// watchCanvas calls draw(context, width, height) in the next frame after the returned function is called, and after a change
// of the size. Sizes are in CSS pixels.
export const watchCanvas = (canvas, draw) => {
  let waiting = false;
  const frame = () => {
    waiting = false;
    const { width, height } = canvas.getBoundingClientRect();
    if (width === 0 || height === 0) return;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    draw(c, width, height);
  };
  const request = () => {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(frame);
    }
  };
  new ResizeObserver(request).observe(canvas);
  return request;
};

// position returns the place of a mouse event in a canvas.
export const position = (canvas, e) => {
  const r = canvas.getBoundingClientRect();
  return [e.clientX - r.left, e.clientY - r.top];
};

// onDrag calls move(dx, dy) while the pointer drags, and click(x, y) if it did not move.
export const onDrag = (canvas, move, click) => {
  let last = null;
  let moved = false;
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    last = [e.clientX, e.clientY];
    moved = false;
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!last) return;
    const dx = e.clientX - last[0];
    const dy = e.clientY - last[1];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    last = [e.clientX, e.clientY];
    move(dx, dy);
  });
  canvas.addEventListener("pointerup", (e) => {
    if (last && !moved) click(...position(canvas, e));
    last = null;
  });
  canvas.addEventListener("pointercancel", () => (last = null));
};

const tip = document.getElementById("tip");

// showTip shows a title and lines next to the pointer; without a title it hides the tip.
export const showTip = (e, title, ...lines) => {
  tip.hidden = !title;
  if (!title) return;
  const b = document.createElement("b");
  b.textContent = title;
  tip.replaceChildren(b, ...lines.filter(Boolean).flatMap((t) => [document.createTextNode(t), document.createElement("br")]));
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.min(e.clientX + 14, window.innerWidth - width - 8) + "px";
  tip.style.top = (e.clientY + 18 + height > window.innerHeight ? e.clientY - height - 10 : e.clientY + 18) + "px";
};

export const rounded = (c, x, y, w, h, r) => {
  c.beginPath();
  c.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
};
