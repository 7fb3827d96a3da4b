import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../app.ts";
import type { Colors } from "./colors.ts";
import { readColors } from "./read-colors.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point in shares of the picture, from the top left. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PictureProps {
  /** What it shows, for screen readers. The same data is in a table next to it. */
  readonly label: string;
  /** Which keys do what. */
  readonly keys: string;
  readonly height: number;
  readonly draw: (context: CanvasRenderingContext2D, size: Size, colors: Colors) => void;
  /** Where the mouse, a finger or the arrow keys point. */
  readonly point: Point | undefined;
  readonly onPoint: (point: Point | undefined) => void;
  readonly onChoose?: ((point: Point) => void) | undefined;
  readonly onDrag?: ((from: Point, to: Point) => void) | undefined;
  /** Dragging selects a rectangle, and not only a part from left to right. */
  readonly isArea?: boolean;
  /** Returns whether the key was handled. */
  readonly onKey?: ((key: string, point: Point) => boolean) | undefined;
  readonly children?: ComponentChildren;
}

const CENTER: Point = { x: 0.5, y: 0.5 };
/** A pointer that moved less than this is a click. */
const CLICK_PIXELS = 4;
const STEP = 0.01;
const LARGE_STEP = 0.1;

/** A canvas that can be pointed at with the mouse, a finger and the keyboard. */
export function Picture(props: PictureProps) {
  const { label, keys, height, draw, point, onPoint, onChoose, onDrag, onKey } = props;
  const app = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const [dragFrom, setDragFrom] = useState<Point>();
  const theme = app.theme.value;

  useEffect(() => {
    const element = canvas.current;
    if (element === null || width === 0) return undefined;
    const frame = requestAnimationFrame(() => {
      const context = prepare(element, { width, height });
      draw(context, { width, height }, readColors(shownTheme()));
    });
    return () => cancelAnimationFrame(frame);
  }, [draw, width, height, theme, useSystemTheme()]);

  const pointOf = (event: TargetedPointerEvent<HTMLElement>): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: share(event.clientX - box.left, box.width), y: share(event.clientY - box.top, box.height) };
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>): void => {
    const to = pointOf(event);
    const from = dragFrom;
    setDragFrom(undefined);
    if (from === undefined) return;
    const isClick = Math.hypot((to.x - from.x) * width, (to.y - from.y) * height) < CLICK_PIXELS;
    if (isClick) onChoose?.(to);
    else onDrag?.(from, to);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.shiftKey ? LARGE_STEP : STEP;
    const at = point ?? CENTER;
    const moved = MOVES[event.key];
    if (moved !== undefined) onPoint({ x: bound(at.x + moved.x * step), y: bound(at.y + moved.y * step) });
    else if (event.key === "Enter" && onChoose !== undefined) onChoose(at);
    else if (onKey?.(event.key, at) !== true) return;
    event.preventDefault();
  };

  return (
    <div
      class="picture"
      role="application"
      aria-roledescription="picture"
      aria-label={`${label} ${keys}`}
      tabIndex={0}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragFrom(pointOf(event));
      }}
      onPointerMove={(event) => onPoint(pointOf(event))}
      onPointerLeave={() => dragFrom === undefined && onPoint(undefined)}
      onPointerUp={onPointerUp}
      onPointerCancel={() => setDragFrom(undefined)}
      onKeyDown={onKeyDown}
      onBlur={() => onPoint(undefined)}
    >
      <canvas ref={canvas} height={height} style={{ height: `${height}px` }} aria-hidden="true" />
      {dragFrom !== undefined && point !== undefined && (
        <Selection from={dragFrom} to={point} isArea={props.isArea === true} />
      )}
      {props.children}
    </div>
  );
}

const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

function Selection({ from, to, isArea }: { readonly from: Point; readonly to: Point; readonly isArea: boolean }) {
  const percent = (value: number): string => `${value * 100}%`;
  return (
    <div
      class="selection"
      style={{
        left: percent(Math.min(from.x, to.x)),
        width: percent(Math.abs(to.x - from.x)),
        ...(isArea ? { top: percent(Math.min(from.y, to.y)), height: percent(Math.abs(to.y - from.y)) } : {}),
      }}
    />
  );
}

/** The canvas at the resolution of the screen, empty, with units of CSS pixels. */
function prepare(canvas: HTMLCanvasElement, { width, height }: Size): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio;
  const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  // Setting the size clears the canvas and allocates, so it is set only when it changes.
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    canvas.width = pixelWidth;
    canvas.height = pixelHeight;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function useWidth(canvas: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = canvas.current!;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Whether the operating system asks for a dark theme. Draws again when it changes its mind. */
function useSystemTheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const onChange = (): void => setDark(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return isDark;
}

function shownTheme(): "light" | "dark" {
  return document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
}

function share(offset: number, size: number): number {
  return bound(size === 0 ? 0 : offset / size);
}

function bound(value: number): number {
  return Math.min(1, Math.max(0, value));
}
