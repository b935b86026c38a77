using System.Diagnostics;
using System.Globalization;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

if (args[0] == "plant")
{
    var limit = int.Parse(args[1], CultureInfo.InvariantCulture);
    var names = args.Length > 2 ? args[2..] : [.. Simulator.PlantedFaults];
    foreach (var name in names)
    {
        Simulator.Plant(name);
        var watch = Stopwatch.StartNew();
        string? caught = null;
        var seeds = 0;
        for (ulong seed = 1; seed <= (ulong)limit && caught is null; seed++)
        {
            seeds++;
            try { caught = Simulator.Run(seed).Violations.FirstOrDefault(); }
            catch (Exception e) { caught = "EXCEPTION " + e; }
        }

        Console.WriteLine($"{(caught is null ? "MISSED" : "caught")} {name} {seeds} seeds {watch.Elapsed.TotalSeconds:0.0} s: {caught?.Split('\n').Take(6).Aggregate((a, b) => a + " | " + b)}");
    }

    return;
}

var first = args.Length > 0 ? ulong.Parse(args[0], CultureInfo.InvariantCulture) : 1;
var count = args.Length > 1 ? int.Parse(args[1], CultureInfo.InvariantCulture) : 100;
var faults = new FaultCounters();
var clock = Stopwatch.StartNew();
long transactions = 0, committed = 0, unknown = 0, steps = 0;
var bad = 0;
for (var i = 0; i < count; i++)
{
    var seed = first + (ulong)i;
    var result = Simulator.Run(seed);
    if (count == 1) { var again = Simulator.Run(seed); Console.WriteLine($"digest {result.Digest:x} {again.Digest:x} steps {result.Steps} {again.Steps} virtual {result.VirtualTime}"); }
    faults.Add(result.Faults);
    transactions += result.Committed + result.Aborted + result.Unknown;
    committed += result.Committed;
    unknown += result.Unknown;
    steps += result.Steps;
    if (result.Violations.Count > 0)
    {
        Console.WriteLine($"seed {seed}: {result.Scenario}");
        foreach (var violation in result.Violations.Take(3)) Console.WriteLine("  " + (violation.Length > 1500 ? violation[..1500] : violation));
        if (++bad >= 5) break;
    }
}

Console.WriteLine($"{count} seeds, {transactions} transactions ({committed} committed, {unknown} unknown), {steps} steps, {clock.Elapsed.TotalSeconds:0.00} s, {transactions / clock.Elapsed.TotalSeconds:0}/s, {bad} bad");
foreach (var kind in Enum.GetValues<FaultKind>()) Console.Write($"{kind} {faults[kind]}, ");
Console.WriteLine();
