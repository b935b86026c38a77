using System.Globalization;
using Snapper.Live.Faults;

namespace Snapper.Live.Rounds;

/// <summary>One fault and what it cost.</summary>
/// <param name="Number">From 1.</param>
/// <param name="Kind">Which.</param>
/// <param name="Detail">How long, how often.</param>
/// <param name="Measured">What the bound is on; null: not run.</param>
/// <param name="Failed">Requests that were refused or got no answer during it.</param>
/// <param name="InDoubt">Answers that said so.</param>
/// <param name="Settled">From the end of the fault until every request sent before it was decided.</param>
/// <param name="Problems">What must not have happened.</param>
internal sealed record Round(
    int Number, FaultKind Kind, string Detail, TimeSpan? Measured, int Failed, int InDoubt, TimeSpan Settled, IReadOnlyList<string> Problems)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Number,4}  {Kind.Name,-24} {(Measured is { } measured ? $"{measured.TotalSeconds,6:0.00} s" : " not run")} of {Kind.Bound.TotalSeconds,2:0} s, {Failed,4} failed, {InDoubt,3} in doubt, decided after {Settled.TotalSeconds,5:0.00} s  {Detail}{string.Concat(Problems.Select(problem => $"\n      PROBLEM: {problem}"))}");
}
