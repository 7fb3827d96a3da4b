// What a bench file imports. Comparisons are collected while the file loads and run by `run-file.ts`.
export { compare, type Bound, type Comparison, type Form } from "./comparison.ts";
export { figure, type Chart, type FigureContent } from "./figure.ts";
