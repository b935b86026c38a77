using Microsoft.AspNetCore.Components;
using Snapper.Dashboard.Store;

namespace Snapper.Dashboard.Parts;

/// <summary>
/// A page that draws itself again when something new was heard, from what <see cref="Look"/> has taken down; a paused page keeps that. Before its browser is connected it is drawn once, with the
/// first answers, for which it waits a little: whoever has never been there sees figures as soon as the page is loaded.
/// </summary>
public abstract class LivePage : ComponentBase, IDisposable
{
    private readonly Dictionary<string, (string Path, IWatch Watch)> _watches = [];
    private int _asked;
    private bool _isOver;

    [Inject]
    public required Fleet Fleet { get; set; }

    [Inject]
    public required Feeds Feeds { get; set; }

    [Inject]
    public required RefreshTimer RefreshTimer { get; set; }

    [Inject]
    public required Handover Handover { get; set; }

    [Inject]
    public required DashboardSettings Settings { get; set; }

    [Inject]
    public required NavigationManager Navigation { get; set; }

    /// <summary>The workers as this page shows them.</summary>
    protected IReadOnlyList<WorkerState> Workers { get; private set; } = [];

    /// <summary>What is said where nothing is to be shown: that there is nothing, once a worker has told it.</summary>
    protected static string Known<T>(IReadOnlyList<Answer<T>> answers, string empty) where T : class => answers.Any(answer => answer.Data is not null) ? empty : "Nothing is known.";

    /// <summary>Takes down what is shown. Called before each drawing of something new.</summary>
    protected virtual void Look()
    {
    }

    /// <summary>Watches a path while the page is open; another path in the same slot takes its place.</summary>
    protected Watch<T> Use<T>(string slot, string path) where T : class
    {
        if (_watches.TryGetValue(slot, out var known))
        {
            if (known.Path == path) return (Watch<T>)known.Watch;
            known.Watch.Dispose();
        }

        var watch = Feeds.Watch<T>(path);
        _watches[slot] = (path, watch);
        _asked++;
        if (!RendererInfo.IsInteractive) Handover.Keep(Feeds.Watch<T>(path));
        return watch;
    }

    /// <summary>Watches nothing in a slot any more.</summary>
    protected void Drop(string slot)
    {
        if (_watches.Remove(slot, out var known)) known.Watch.Dispose();
    }

    /// <summary>Goes to this page with other query parameters; null takes one away.</summary>
    protected void With(params (string Name, object? Value)[] parameters) =>
        Navigation.NavigateTo(Navigation.GetUriWithQueryParameters(parameters.ToDictionary(one => one.Name, one => one.Value is string { Length: 0 } ? null : one.Value)), replace: true);

    protected override void OnInitialized()
    {
        RefreshTimer.Beat += OnBeat;
        if (!RendererInfo.IsInteractive) Handover.Expect();
    }

    protected override Task OnParametersSetAsync()
    {
        if (!RendererInfo.IsInteractive) return FirstAnswers();
        LookAgain();
        return Task.CompletedTask;
    }

    public void Dispose()
    {
        _isOver = true;
        RefreshTimer.Beat -= OnBeat;
        foreach (var (_, watch) in _watches.Values) watch.Dispose();
        GC.SuppressFinalize(this);
    }

    private void LookAgain()
    {
        Workers = Fleet.Workers;
        Look();
    }

    private bool IsAnswered(IReadOnlyList<WorkerState> workers)
    {
        var up = workers.Count(worker => worker.Problem is null);
        return workers.All(worker => worker.AskedAt is not null) && _watches.Values.All(one => one.Watch.IsAnsweredBy(up));
    }

    private async Task FirstAnswers()
    {
        using var late = new CancellationTokenSource(Settings.FirstAnswersMax);
        while (true)
        {
            var heard = RefreshTimer.Heard;
            var (asked, answered) = (_asked, IsAnswered(Fleet.Workers));
            LookAgain();

            // An answer may lead to a further question.
            if (answered && asked == _asked) return;
            if (answered) continue;
            await heard.WaitAsync(late.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            if (late.IsCancellationRequested || _isOver) return;
        }
    }

    private void OnBeat() => _ = InvokeAsync(() =>
    {
        try
        {
            // A beat that was on its way when the page was left: it would watch something that nobody lets go of.
            if (_isOver) return Task.CompletedTask;
            if (!RefreshTimer.Paused) LookAgain();
            StateHasChanged();
        }
        catch (Exception problem) when (problem is not ObjectDisposedException)
        {
            return DispatchExceptionAsync(problem);
        }

        return Task.CompletedTask;
    });
}
