using System.Runtime.CompilerServices;

namespace Snapper.Generators.Tests;

/// <summary>What methods of actors may not do is found, in them and in what they call, and nothing else is.</summary>
public sealed class BodiesTests
{
    /// <summary>Bodies of methods; the rule that forbids each, and what is named, once or more often.</summary>
    private static readonly (string Body, string[] Expected)[] s_bodies =
    [
        ("_ = DateTime.Now;", ["SNAP201", "DateTime.Now"]),
        ("_ = DateTime.UtcNow.AddDays(1);", ["SNAP201", "DateTime.UtcNow"]),
        ("_ = DateTime.Today;", ["SNAP201", "DateTime.Today"]),
        ("_ = DateTimeOffset.UtcNow;", ["SNAP201", "DateTimeOffset.UtcNow"]),
        ("_ = Stopwatch.GetTimestamp();", ["SNAP201", "Stopwatch.GetTimestamp"]),
        ("_ = Stopwatch.StartNew();", ["SNAP201", "Stopwatch.StartNew"]),
        ("_ = new Stopwatch();", ["SNAP201", "new Stopwatch"]),
        ("_ = Environment.TickCount64;", ["SNAP201", "Environment.TickCount64"]),
        ("_ = TimeProvider.System;", ["SNAP201", "TimeProvider.System"]),
        ("_ = time.GetUtcNow();", ["SNAP201", "TimeProvider.GetUtcNow"]),
        ("_ = Guid.NewGuid();", ["SNAP202", "Guid.NewGuid"]),
        ("_ = Guid.CreateVersion7();", ["SNAP202", "Guid.CreateVersion7"]),
        ("Func<Guid> make = Guid.NewGuid; _ = make();", ["SNAP202", "Guid.NewGuid"]),
        ("_ = new Random();", ["SNAP202", "new Random"]),
        ("_ = Random.Shared;", ["SNAP202", "Random.Shared"]),
        ("_ = RandomNumberGenerator.GetInt32(3);", ["SNAP202", "RandomNumberGenerator.GetInt32"]),
        ("await Task.Run(() => 1);", ["SNAP203", "Task.Run"]),
        ("await Task.Factory.StartNew(() => 1);", ["SNAP203", "Task.Factory"]),
        ("new Thread(() => { }).Start();", ["SNAP203", "Thread.Start", "new Thread"]),
        ("Parallel.For(0, 3, _ => { });", ["SNAP203", "Parallel.For"]),
        ("_ = new[] { 1 }.AsParallel();", ["SNAP203", "ParallelEnumerable.AsParallel"]),
        ("ThreadPool.QueueUserWorkItem(_ => { });", ["SNAP203", "ThreadPool.QueueUserWorkItem"]),
        ("_ = new Timer(_ => { });", ["SNAP203", "new Timer"]),
        ("_ = new PeriodicTimer(TimeSpan.FromSeconds(1));", ["SNAP203", "new PeriodicTimer"]),
        ("await Context.Delay(TimeSpan.Zero).ContinueWith(_ => 1);", ["SNAP203", "Task.ContinueWith"]),
        ("await Context.Delay(TimeSpan.Zero).ConfigureAwait(false);", ["SNAP204", "ConfigureAwait"]),
        ("await State.Get().ConfigureAwait(false);", ["SNAP204", "ConfigureAwait"]),
        ("await Context.Delay(TimeSpan.Zero).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);", ["SNAP204", ""]),
        ("_ = await http.GetStringAsync(\"http://a\");", ["SNAP205", "HttpClient.GetStringAsync"]),
        ("_ = await http.GetFromJsonAsync<int>(\"http://a\");", ["SNAP205", "GetFromJsonAsync"]),
        ("_ = new HttpClient();", ["SNAP205", "new HttpClient"]),
        ("await new MyClient().GetAsync(\"http://a\");", ["SNAP205", "HttpClient.GetAsync"]),
        ("_ = File.Exists(\"a\");", ["SNAP205", "File.Exists"]),
        ("Directory.CreateDirectory(\"a\");", ["SNAP205", "Directory.CreateDirectory"]),
        ("_ = Process.GetProcesses();", ["SNAP205", "Process.GetProcesses"]),
        ("_ = Dns.GetHostName();", ["SNAP205", "Dns.GetHostName"]),
        ("_ = command.ExecuteNonQuery();", ["SNAP205", "DbCommand.ExecuteNonQuery"]),
        ("await Task.Delay(1);", ["SNAP206", "Task.Delay"]),
        ("Thread.Sleep(1);", ["SNAP206", "Thread.Sleep"]),
        ("Context.Delay(TimeSpan.Zero).Wait();", ["SNAP206", "Task.Wait"]),
        ("_ = Actor<IOther>(\"a\").Ask().GetAwaiter().GetResult();", ["SNAP206", "GetResult"]),
        ("s_count = 1;", ["SNAP207", "s_count"]),
        ("s_count++;", ["SNAP207", "s_count"]),
        ("Shared += 2;", ["SNAP207", "Shared"]),
        ("s_list.Add(1);", ["SNAP207", "s_list"]),
        ("s_table[1] = 2;", ["SNAP207", "s_table"]),
        ("s_array[1] = 2;", ["SNAP207", "s_array"]),
        ("s_text ??= \"a\";", ["SNAP207", "s_text"]),
        ("(s_count, _) = (1, 2);", ["SNAP207", "s_count"]),
        ("Interlocked.Increment(ref s_count);", ["SNAP207", "s_count"]),
        ("_last = 1;", ["SNAP208", "_last"]),
        ("this.Seen = 1;", ["SNAP208", "Seen"]),
        ("_last--;", ["SNAP208", "_last"]),
        ("(_last, var b) = (1, 2); _ = b;", ["SNAP208", "_last"]),
        ("time = TimeProviderOf(); ", ["SNAP208", "time"]),
        ("int.TryParse(\"1\", out _last);", ["SNAP208", "_last"]),
        ("try { await Actor<IOther>(\"a\").Ask(); } catch { }", ["SNAP209", "catch"]),
        ("try { await Actor<IOther>(\"a\").Ask(); } catch (Exception) { return; }", ["SNAP209", "Exception"]),
        ("try { await Actor<IOther>(\"a\").Ask(); } catch (TransactionDoomedException e) { _ = e; }",
            ["SNAP209", "TransactionDoomed"]),
        ("try { throw Abort(\"a\"); } catch (TransactionAbortException) { }", ["SNAP209", "TransactionAbort"]),
        ("try { await State.ForUpdate(); } catch (Exception) { }", ["SNAP209", "Exception"]),
    ];

    private static readonly string[] s_freeBodies =
    [
        "_ = Context.UtcNow; _ = Context.NewGuid(); await Context.Delay(TimeSpan.FromSeconds(1));",
        "_ = new DateTime(2020, 1, 1).AddDays(1); _ = DateTime.Parse(\"2020-01-01\"); _ = DateTime.MinValue;",
        "_ = Guid.Parse(\"a\"); _ = Guid.Empty; _ = new Random(7).Next();",
        "_ = TimeSpan.FromTicks(Stopwatch.Frequency);",
        "await Task.WhenAll(Actor<IOther>(\"a\").Ask(), Actor<IOther>(\"b\").Ask()); await Task.Yield();",
        "var ask = Actor<IOther>(\"a\").Ask(); await ask; _ = ask.Result; await Task.CompletedTask;",
        "await State.Get().ConfigureAwait(true); await Task.FromResult(1);",
        "await Context.Delay(TimeSpan.Zero).ConfigureAwait(ConfigureAwaitOptions.ContinueOnCapturedContext);",
        "_ = Path.Combine(\"a\", \"b\"); _ = new StringReader(\"a\").ReadLine(); _ = new MemoryStream();",
        "_ = new Uri(\"http://a\").Host; _ = Environment.NewLine;",
        "_ = s_count + s_list.Count + s_table[1] + s_array[0] + Shared; _ = Volatile.Read(ref s_count);",
        "_ = prices.Of(\"a\") + prices.Calls; log.Log(\"a\");",
        "var list = new List<int> { 1 }; list.Add(2); list[0] = 3; var x = 1; x++; _ = list.Select(i => i + x);",
        "int Local(int a) { a++; var b = a; b += 2; return b; } _ = Local(1);",
        "Func<int, int> twice = a => { var b = a; b *= 2; return b; }; _ = twice(2);",
        "var mine = await State.ForUpdate(); mine.Items1.Add(1); mine.Count = 3; mine.Items1[0]++;",
        "var mine = await State.ForUpdate(); State.Set(new Items { Count = mine.Count + 1 });",
        "var point = new Point(1, 2) with { X = 3 }; _ = point;",
        "try { _ = int.Parse(\"a\"); } catch (Exception) { }",
        "try { await Actor<IOther>(\"a\").Ask(); } catch (Exception) { throw; }",
        "try { await Actor<IOther>(\"a\").Ask(); } "
            + "catch (Exception e) { throw new InvalidOperationException(\"a\", e); }",
        "try { await Actor<IOther>(\"a\").Ask(); } catch (TransactionDoomedException) { throw; } catch (Exception) { }",
        "try { await Actor<IOther>(\"a\").Ask(); } catch (FormatException) { }",
        "try { await Actor<IOther>(\"a\").Ask(); } catch (Exception e) when (e is FormatException) { }",
        "try { await Actor<IOther>(\"a\").Ask(); } finally { s_list.ToArray(); }",
        "_ = new { Text = \"a\", Last = 1 }; _ = new Items { Count = 1, Items1 = { 1 } };",
    ];

    // One compilation has all of them, each in an actor class of its own.
    private static readonly Lazy<Task<string[]>> s_forbidden = new(static () =>
        Found(Actors(s_bodies.Select(static one => one.Body))));

    private static readonly Lazy<Task<string[]>> s_free = new(static () => Found(Actors(s_freeBodies)));

    public static IEnumerable<object[]> Forbidden =>
        s_bodies.Select(static one => new object[] { one.Body, one.Expected });

    public static IEnumerable<object[]> Free => s_freeBodies.Select(static one => new object[] { one });

    [Theory]
    [MemberData(nameof(Forbidden))]
    public async Task What_a_method_may_not_do_is_found_where_it_stands(string body, string[] expected)
    {
        var name = $"'Sample{Array.FindIndex(s_bodies, one => one.Body == body)}.Do'";
        var found = (await s_forbidden.Value).Where(one => one.Contains(name, StringComparison.Ordinal)).ToArray();
        Assert.Equal(expected.Length - 1, found.Length);
        for (var i = 0; i < found.Length; i++)
        {
            Begins($"{expected[0]} {name} ", found[i]);
            Assert.Contains(expected[i + 1], found[i], StringComparison.Ordinal);
        }
    }

    [Theory]
    [MemberData(nameof(Free))]
    public async Task What_a_method_may_do_is_not(string body)
    {
        var name = $"'Sample{Array.IndexOf(s_freeBodies, body)}.";
        Assert.DoesNotContain(await s_free.Value, one => one.Contains(name, StringComparison.Ordinal));
    }

    [Fact]
    public async Task All_of_these_are_the_only_findings()
    {
        Assert.Equal(s_bodies.Sum(static one => one.Expected.Length - 1), (await s_forbidden.Value).Length);
        Assert.Empty(await s_free.Value);
    }

    [Theory]
    [InlineData("src/Snapper.Templates/content/snapper-actor", 1)]
    [InlineData("src/Snapper.Templates/content/snapper-app/SnapperApp", 1)]
    [InlineData("samples/Orders", 4)]
    public async Task Templates_and_samples_have_none(string folder, int actors)
    {
        const string Actor = "[TransactionalActor(";
        var root = Path.Combine(SourceFolder(), "../..", folder);
        var files = Directory.GetFiles(root, "*.cs", SearchOption.AllDirectories)
            .Where(static file => !file.Contains("/obj/", StringComparison.Ordinal)).Select(File.ReadAllText)
            .Where(static text => text.Contains(Actor, StringComparison.Ordinal)
                || text.Contains(": ITransactionalActor", StringComparison.Ordinal)).ToArray();
        Assert.Equal(actors, files.Count(static text => text.Contains(Actor, StringComparison.Ordinal)));
        Assert.Empty(await Compile.Warnings("global using System.Linq;", new BodyAnalyzer(), files));
        Assert.Empty(await Compile.Warnings("global using System.Linq;", new ActorAnalyzer(), files));
    }

    [Fact]
    public async Task What_is_reached_through_other_methods_of_the_project_is_found_with_the_way()
    {
        var found = await Found(Actor("_ = Helper.First(1); _ = new Tool().Value; Helper.Never = null;", more: """
            public static class Helper
            {
                public static Func<int>? Never { get; set; }
                public static int First(int depth) => depth > 3 ? 0 : Second(depth);
                private static int Second(int depth) => First(depth + 1) + depth.Third();
                private static int Third(this int depth) => DateTime.UtcNow.Day;
                public static Guid Unused() => Guid.NewGuid();
            }
            public sealed class Tool
            {
                private int _field;
                public Tool() => _field = 1;
                public int Value { get { _field++; Thread.Sleep(1); return Lazily(() => File.Exists("a") ? 1 : 0); } }
                private static T Lazily<T>(Func<T> make) => make();
            }
            """));

        Assert.Equal(4, found.Length);
        Begins("SNAP207 'Sample.Do' changes the static 'Never'", found[0]);
        Begins("SNAP201 'Helper.Third' uses 'DateTime.UtcNow', and 'Sample.Do' runs it:", found[1]);
        Begins("SNAP206 'Tool.Value' uses 'Thread.Sleep', and 'Sample.Do' runs it;", found[2]);
        Begins("SNAP205 'Tool.Value' uses 'File.Exists', and 'Sample.Do' runs it:", found[3]);
    }

    [Fact]
    public async Task A_concrete_service_is_followed_and_an_interface_is_not()
    {
        const string More = "public sealed class Real : IPrices { public int Calls => Environment.TickCount; "
            + "public int Of(string a) => Random.Shared.Next(); }";
        Assert.Empty(await Found(Actor("_ = prices.Of(\"a\") + prices.Calls;", more: More)));
        var found = await Found(Actor("_ = real.Of(\"a\");", more: More));
        Begins("SNAP202 'Real.Of' uses 'Random.Shared', and 'Sample.Do' runs it;", Assert.Single(found));
    }

    [Theory]
    [InlineData("private static int Helper() => DateTime.Now.Day;", "SNAP201 'Sample.Helper'")]
    [InlineData("private readonly Guid _id = Guid.NewGuid();", "SNAP202 'Sample._id'")]
    [InlineData("private int Day => DateTime.Now.Day;", "SNAP201 'Sample.Day'")]
    [InlineData("[Declares] internal static void Do(Declaration d, string id) => d.Actor(\"A\", id + DateTime.Now);",
        "SNAP201 'Sample.Do'")]
    [InlineData("public sealed class Inner { public int A() => 1; } private int B() { s_count++; return 1; }",
        "SNAP207 'Sample.B'")]
    public async Task All_of_an_actor_class_is_read(string member, string where) =>
        Begins(where, Assert.Single(await Found(Actor("await Task.Yield();", members: member))));

    [Theory]
    [InlineData("public sealed class Unused { public Guid A() => Guid.NewGuid(); }")]
    [InlineData("public static class Start { public static void Main() { Thread.Sleep(1); new Tool().Run(); } } "
        + "public sealed class Tool { private int _a; public void Run() { _a++; Task.Run(() => { }).Wait(); } }")]
    public async Task What_no_method_of_an_actor_reaches_is_free(string more) =>
        Assert.Empty(await Found(Actor("await Task.Yield();", more: more)));

    [Fact]
    public async Task Steps_between_versions_of_a_state_are_read_too()
    {
        var found = await Found(Actor("await Task.Yield();", more: """
            [StateVersion(2)]
            public sealed record Versioned(DateTime At)
            {
                [Upcasts(1)] internal static Versioned One(Point old) => new(DateTime.UtcNow.AddDays(old.X));
            }
            """));
        Begins("SNAP201 'Versioned.One' uses 'DateTime.UtcNow':", Assert.Single(found));
    }

    [Fact]
    public async Task The_warning_can_be_suppressed_where_it_stands()
    {
        Assert.Empty(await Found(Actor("""
            #pragma warning disable SNAP201
                _ = DateTime.Now;
            #pragma warning restore SNAP201
            """)));
        Assert.Empty(await Found(Actor("_ = Helper.Now;", more: """
            public static class Helper
            {
            #pragma warning disable SNAP201
                public static DateTime Now => DateTime.Now;
            #pragma warning restore SNAP201
            }
            """)));
    }

    [Theory]
    [InlineData("await Actor<IOther>(\"a\").Change();", "calls 'Other.Change', which does not carry it")]
    [InlineData("await Way(true);", "calls 'Other.Change', which does not carry it")]
    [InlineData("await Load();", "calls 'Sample.Load', which asks to change the state (State.ForUpdate)")]
    [InlineData("await Through();", "calls 'Sample.Load', which asks to change the state (State.ForUpdate)")]
    public async Task A_read_only_method_that_reaches_a_change_is_found(string body, string what)
    {
        var found = await Found(Actor(body, mark: "[ReadOnlyMethod]", members: ReadOnlyHelpers));
        Begins("SNAP210 'Sample.Do' carries [ReadOnlyMethod] and " + what, Assert.Single(found));
    }

    [Theory]
    [InlineData("[ReadOnlyMethod]", "await Actor<IOther>(\"a\").Ask(); await State.Get(); await Way2();")]
    [InlineData("[ReadOnlyMethod]", "await Actor<IElsewhere>(\"a\").Do();")]
    [InlineData("", "await Actor<IOther>(\"a\").Change(); await Load();")]
    public async Task One_that_reaches_none_is_not(string mark, string body) =>
        Assert.Empty(await Found(Actor(body, mark: mark, members: ReadOnlyHelpers)));

    private const string ReadOnlyHelpers = """
        private Task Way(bool more) => more ? Way(false) : Actor<IOther>("a").Change();
        private async Task<int> Way2() => (await State.Get()).Count;
        private async Task<Items> Load() => await State.ForUpdate();
        private Task Through() => Load();
        """;

    private static string SourceFolder([CallerFilePath] string path = "") => Path.GetDirectoryName(path)!;

    private static string Real(string more) =>
        more.Contains("class Real", StringComparison.Ordinal) ? ", Real real" : "";

    private static void Begins(string expected, string found) =>
        Assert.StartsWith(expected, found, StringComparison.Ordinal);

    private static Task<string[]> Found(string source) => Compile.Warnings(source, new BodyAnalyzer());

    private static string Actor(string body, string mark = "", string members = "", string more = "") =>
        Shared + Class("Sample", body, mark, members, Real(more)) + more;

    private static string Actors(IEnumerable<string> bodies) =>
        Shared + string.Concat(bodies.Select(static (body, i) => Class($"Sample{i}", body, "", "", "")));

    private static string Class(string name, string body, string mark, string members, string more) => $$"""

        [TransactionalActor("{{name}}")]
        public sealed class {{name}}(
            TimeProvider time, HttpClient http, DbCommand command, IPrices prices, ILog log{{more}})
            : TransactionalActor<Items>, ISample
        {
            private static int s_count;
            private static string? s_text;
            private static readonly List<int> s_list = [];
            private static readonly Dictionary<int, int> s_table = [];
            private static readonly int[] s_array = [1, 2];
            private readonly IPrices _prices = prices;
            private int _last;
            public static int Shared { get; set; }
            public int Seen { get; set; }
            protected override Items InitialState() => new();
            {{mark}}
            public async Task Do()
            {
                {{body}}
                await Task.Yield();
            }
            private TimeProvider TimeProviderOf()
            {
                _ = (http, command, log, _prices, _last, s_text);
                return time;
            }
            {{members}}
        }
        """;

    private const string Shared = """
        using System.Data.Common;
        using System.Diagnostics;
        using System.IO;
        using System.Linq;
        using System.Net;
        using System.Net.Http;
        using System.Net.Http.Json;
        using System.Security.Cryptography;
        using System.Threading;
        public interface ISample : ITransactionalActor { Task Do(); }
        public interface IOther : ITransactionalActor { Task<int> Ask(); Task Change(); }
        public interface IElsewhere : ITransactionalActor { Task Do(); }
        public interface IPrices { int Calls { get; } int Of(string product); }
        public interface ILog { void Log(string line); }
        public sealed class MyClient : HttpClient;
        public readonly record struct Point(int X, int Y);
        public sealed class Items { public List<int> Items1 { get; } = []; public int Count { get; set; } }
        [TransactionalActor("Other")]
        public sealed class Other : TransactionalActor<Items>, IOther
        {
            protected override Items InitialState() => new();
            [ReadOnlyMethod] public async Task<int> Ask() => (await State.Get()).Count;
            public async Task Change() => await State.ForUpdate();
        }
        """;
}
